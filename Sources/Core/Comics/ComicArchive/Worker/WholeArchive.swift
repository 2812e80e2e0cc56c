import Platform
import Sandbox

/// The content of a whole archive, in parts: an entry, its bytes in order, its end.
package enum UnpackedPart: Sendable, Equatable {
    case entry(EntryHeader)
    case bytes([UInt8])
    /// For files only: all bytes have arrived and are intact.
    case end
}

/// Archives of any content, in the same worker and within the same limits as comics. All of it blocks.
extension ArchiveWorker {
    /// The resource limits for an archive of any content; a comic has lower ones because a person may be waiting for
    /// it.
    ///
    /// - Parameter size: bytes that are read, or written.
    package static func limits(for size: Int64) -> WorkerLimits {
        let seconds = 120 + UInt64(max(0, size)) >> 21
        return WorkerLimits(processorSeconds: seconds, solidProcessorSeconds: 5 * seconds)
    }

    /// Passes on the whole content of an archive.
    ///
    /// - Parameters:
    ///   - isOwn: whether the agent has just packed it, so that any size is allowed.
    ///   - take: an error from it ends the worker, and is rethrown.
    /// - Throws: `Fault(.refused)` if the archive is encrypted, damaged, beyond ``ArchiveLimits``, or not an archive;
    ///   its code is a ``RefusalReason``.
    package func unpack(
        _ file: Descriptor, isOwn: Bool = false, _ take: (UnpackedPart) throws -> Void
    ) throws {
        let before = try file.status().fingerprint
        let source = try readable(.file(file))
        var structure = ArchiveStructure(format: .unknown, traits: [])
        var entries = 0
        var names = 0
        var total: Int64 = 0
        var current: (header: EntryHeader, size: Int64)?
        let outcome = try process(source, isOwn ? ["unpack", "own"] : ["unpack"]).run { record in
            switch record {
            case .structure(let found): structure = found
            case .header(let header):
                names += header.path.count
                guard header.position == entries, entries <= ArchiveLimits.maxHeaderCount,
                    names <= ArchiveLimits.maxNamesLength
                else { return false }
                entries += 1
                current = (header, 0)
                if header.isEncrypted { throw Self.encrypted(file.path) }
                if header.kind != .unreadable { try take(.entry(header)) }
            case .bytes(let position, let bytes):
                guard let (header, size) = current, header.position == position, header.kind == .file else {
                    return false
                }
                total += Int64(bytes.count)
                guard isOwn || total <= ArchiveLimits.maxTotalUncompressedSize else { return false }
                current = (header, size + Int64(bytes.count))
                try take(.bytes(bytes))
            case .content(let content):
                guard let (header, size) = current, header.position == content.position else { return false }
                guard content.state == .whole, content.size == size else {
                    throw Self.damaged(file.path, header, content)
                }
                current = nil
                try take(.end)
            case .order, .end: break
            }
            return true
        }
        if !outcome.isComplete {
            if structure.traits.contains(.encryptedHeaders) { throw Self.encrypted(file.path) }
            if let obstacle = try obstacle(outcome, file.path) { throw obstacle }
            let (reason, message) = ArchiveJudge.reason(of: outcome, structure)
            throw Fault(.refused, "\(file.path): \(message)", path: file.path, code: reason.rawValue)
        }
        guard try file.status().fingerprint.isSameContent(as: before) else {
            throw Fault(.superseded, "\(file.path) was changed while it was read; it is judged again", path: file.path)
        }
    }

    /// Packs a file.
    ///
    /// - Parameters:
    ///   - entry: the entry's metadata in the archive.
    ///   - put: receives the archive's bytes in order.
    /// - Throws: `Fault` if it cannot be packed; any error from `put`.
    package func pack(
        _ file: Descriptor, as format: PackFormat, _ entry: PackedEntry, _ put: ([UInt8]) throws -> Void
    ) throws {
        try pack(.file(file), as: format, entry.words, put)
    }

    /// Packs a folder.
    ///
    /// - Parameters:
    ///   - tree: its content, as ``PackedTreeHeader`` describes; messages use its path.
    ///   - rawNames: whether ``PackFormat/isRewritten(_:)`` is true for one of its names.
    ///   - put: receives the archive's bytes in order.
    /// - Throws: `Fault` if it cannot be packed; any error from reading the tree or from `put`.
    package func pack(
        tree: AskedArchive, as format: PackFormat, rawNames: Bool, _ put: ([UInt8]) throws -> Void
    ) throws {
        try pack(.asked(tree), as: format, PackFormat.treeWords(rawNames: rawNames), put)
    }

    private func pack(
        _ source: ArchiveSource, as format: PackFormat, _ words: [String], _ put: ([UInt8]) throws -> Void
    ) throws {
        let path = source.path
        var size: Int64 = 0
        var isWhole = false
        let outcome = try process(source, ["pack", format.rawValue] + words).run { record in
            switch record {
            case .bytes(0, let bytes) where !isWhole:
                size += Int64(bytes.count)
                try put(bytes)
            case .content(let content) where !isWhole:
                isWhole = content.state == .whole && content.size == size
                return isWhole
            case .end: break
            case .structure, .header, .bytes, .content, .order: return false
            }
            return true
        }
        guard outcome.isComplete, isWhole else {
            if let obstacle = try obstacle(outcome, path) { throw obstacle }
            if case .finished(let end) = outcome {
                throw Fault(.failed, "\(path) cannot be packed: \(end.message)", path: path)
            }
            throw Fault(.failed, "\(path) cannot be packed: the packing process ended early", path: path)
        }
    }

    private static func encrypted(_ path: BytePath) -> Fault {
        Fault(
            .refused, "\(path) is encrypted, and nobody here knows its password; unpack it by hand", path: path,
            code: RefusalReason.encrypted.rawValue)
    }

    private static func damaged(_ path: BytePath, _ header: EntryHeader, _ content: EntryContent) -> Fault {
        let why = content.state == .oversize ? "it is too large" : content.message
        return Fault(
            .refused,
            "\(path): its entry \(BytePath(bytes: header.path)) cannot be unpacked\(why.isEmpty ? "" : " (\(why))"); "
                + "fetch the file again", path: path)
    }
}

extension Fingerprint {
    /// Whether the file was not written to between the two, judging by size and time.
    fileprivate func isSameContent(as other: Fingerprint) -> Bool {
        inode == other.inode && device == other.device && size == other.size && modified == other.modified
    }
}
