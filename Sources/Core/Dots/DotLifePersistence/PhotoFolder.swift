import DotLifeDomain
import Foundation
import Glibc
import OwnFiles
import Platform

/// The store's files: attachments named by their content, and their thumbnails. Everything here blocks.
///
/// `photos/ab/abcdef….jpg` is named by its SHA-256, so captures with the same picture share one file. Earlier versions
/// named a file by its experience's id, `photos/<id>.jpg`; those stay as they are. A file without a row was left by a
/// crash between copy and commit: it is used when the same bytes come again, and reported by
/// ``CaptureStore/check(contents:)``.
struct PhotoFolder: Sendable {
    /// The two folders of a store.
    enum Kind: String, Sendable {
        case photos, thumbnails
    }

    private let store: BytePath

    init(in store: BytePath) throws {
        self.store = store
        try Durable.makeDirectory(folder(.photos), mode: 0o700)
    }

    func folder(_ kind: Kind) -> BytePath { store.appending(kind.rawValue) }

    /// The path of the file, if the name has the store's form.
    func path(_ name: String, _ kind: Kind = .photos) throws -> BytePath {
        guard Self.isName(name) else {
            throw Fault(
                .failed,
                "the captures name a file `\(BytePath.escape(Array(name.utf8)))`, which the store never gives: somebody has "
                    + "changed the database; restore it from a backup", path: folder(kind))
        }
        return folder(kind).appending(name)
    }

    /// A bare name, or one in a folder of two digits.
    static func isName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let last = parts.last, !last.isEmpty, last.first != UInt8(ascii: "."), !name.utf8.contains(0) else {
            return false
        }
        return parts.count == 1 || parts.count == 2 && parts[0].count == 2 && parts[0].allSatisfy(isDigit)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// Runs `body` while no other process copies into or removes from the folder.
    func exclusively<R>(_ body: () throws -> R) throws -> R {
        let folder = try Descriptor(folder(.photos), O_RDONLY | O_DIRECTORY)
        try FileLock.wait(on: folder)
        return try withExtendedLifetime(folder, body)
    }

    /// The result of storing a file.
    struct Stored {
        let name: String
        let hash: ContentHash
        let size: Int64
        /// nil if it is not a picture.
        let format: PictureFormat?
        /// False if the same bytes were there already.
        let isNew: Bool
    }

    /// Copies a file in, durably, under the name derived from its content, and reads the copy back.
    ///
    /// - Parameter opened: the source's file, if it is open already; its path is not used then.
    /// - Throws: `Fault`; `.failed` if `expected` is given and the source's content differs.
    func store(_ source: PhotoSource, _ opened: Descriptor? = nil, expecting expected: ContentHash?) throws -> Stored {
        let (staged, hash) = try stage(source, opened)
        var isPlaced = false
        defer { if !isPlaced { try? Durable.remove(staged) } }
        if let expected, hash != expected {
            throw Fault(
                .failed, "the file \(describe(source)) is not the one that was looked at: it has changed since")
        }
        let copy = try Descriptor(staged)
        // Bypasses the page cache, as far as possible.
        posix_fadvise(copy.raw, 0, 0, POSIX_FADV_DONTNEED)
        guard try ContentHash.of(copy) == hash else {
            throw Fault(
                .transient, "the copy of \(describe(source)) differs from it when it is read back; look at the disk",
                path: staged)
        }
        let size = try copy.status().size
        let format = PictureFormat.of(try copy.read(at: 0, count: PictureFormat.headLength))
        for attempt in 1...1000 {
            let name = Self.name(of: hash, format, attempt)
            let target = try path(name)
            try Durable.makeDirectory(target.parent, mode: 0o700)
            isPlaced = try Durable.renameNew(staged, to: target)
            if try isPlaced || FileStatus.of(target)?.kind == .file && ContentHash.ofFile(target) == hash {
                if !isPlaced { try syncNames(of: target) }
                return Stored(name: name, hash: hash, size: size, format: format, isNew: isPlaced)
            }
        }
        throw Fault(
            .failed, "\(folder(.photos)) holds too many damaged files of the name \(hash); look at what they are",
            path: folder(.photos))
    }

    /// The process that put the file there may have died before its name was durable, and a row is about to rely on it.
    private func syncNames(of target: BytePath) throws {
        try Durable.syncDirectory(target.parent)
        try Durable.syncDirectory(folder(.photos))
    }

    private static func name(of hash: ContentHash, _ format: PictureFormat?, _ attempt: Int) -> String {
        let number = attempt == 1 ? "" : "-\(attempt)"
        return "\(hash.description.prefix(2))/\(hash)\(number).\(format?.fileExtension ?? "bin")"
    }

    /// The name of a file known only by its hash, and whether it exists.
    func name(ofLost sha256: String) throws -> (name: String, isThere: Bool) {
        for ending in PictureFormat.allCases.map(\.fileExtension) + ["bin"] {
            let name = "\(sha256.prefix(2))/\(sha256).\(ending)"
            let target = try path(name)
            guard try FileStatus.of(target)?.kind == .file, try ContentHash.ofFile(target).description == sha256 else {
                continue
            }
            try syncNames(of: target)
            return (name, true)
        }
        return ("\(sha256.prefix(2))/\(sha256).bin", false)
    }

    private func stage(_ source: PhotoSource, _ opened: Descriptor?) throws -> (BytePath, ContentHash) {
        let place = folder(.photos).appending("new")
        switch source {
        case .data(let data):
            return (try Durable.stage(Array(data), for: place, mode: 0o600), ContentHash(of: data))
        case .file(let bytes):
            let file = try opened ?? Descriptor(BytePath(bytes: bytes))
            guard try file.status().kind == .file else {
                throw Fault(
                    .refused, "\(file.path) is no regular file; only such a one can be a photo or attachment",
                    path: file.path)
            }
            let copy = try Durable.stageCopy(of: file, for: DirectoryEntry(own: place), keepsOwner: false)
            // Several captures may share it, so it does not copy one source's permissions.
            guard fchmod(copy.file.raw, 0o600) == 0 else { throw Fault.system("set the mode of", copy.entry.path) }
            return (copy.entry.path, copy.hash)
        }
    }

    /// Stores a thumbnail under `name`, replacing an earlier one.
    func keepThumbnail(_ jpeg: [UInt8], as name: String) throws {
        let target = try path(name, .thumbnails)
        try Durable.makeDirectory(target.parent, mode: 0o700)
        try Durable.replaceOwn(target, with: jpeg)
    }

    /// The name of the thumbnail for the file called `name`.
    static func thumbnailName(of name: String) -> String {
        (name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name) + ".jpg"
    }

    /// Durably removes a file named by the store; a no-op if it is gone. Only under ``exclusively(_:)``.
    func remove(_ name: String, _ kind: Kind = .photos) throws {
        let target = try path(name, kind)
        guard try FileStatus.of(target.parent) != nil else { return }
        try Durable.remove(target)
        try Durable.syncDirectory(target.parent)
        // Nothing is added to it in the meantime, because that needs the lock too.
        if target.parent != folder(kind) { _ = try Durable.removeFolder(DirectoryEntry(own: target.parent)) }
    }

    /// Removes leftovers of an interrupted removal or copy under the name of `id`, as earlier versions named files.
    ///
    /// - Returns: whether there was such a file.
    func removeLeftovers(of id: UUID) throws -> Bool {
        var found = false
        for ending in PictureFormat.allCases.map(\.fileExtension) + ["bin"] {
            let name = "\(id.uuidString.lowercased()).\(ending)"
            guard try FileStatus.of(try path(name)) != nil else { continue }
            try remove(name)
            found = true
        }
        return found
    }

    /// Removes unfinished copies: temporary names of a dead process. Only under ``exclusively(_:)``.
    ///
    /// - Returns: why some could not be removed.
    func removeUnfinishedCopies() throws -> [Fault] {
        let folder = folder(.photos)
        var left: [Fault] = []
        for entry in try listDirectory(folder) where Self.isTemporary(entry.name) {
            do {
                try Durable.remove(folder.appending(name: entry.name))
            } catch let fault as Fault {
                left.append(fault)
            }
        }
        return left
    }

    static func isTemporary(_ name: [UInt8]) -> Bool { name.starts(with: Array(".steward-".utf8)) }

    private func describe(_ source: PhotoSource) -> String {
        switch source {
        case .data(let data): "of \(data.count) bytes"
        case .file(let bytes): BytePath(bytes: bytes).description
        }
    }
}
