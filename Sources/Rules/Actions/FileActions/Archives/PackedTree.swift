import ComicArchive
import Platform
import Rules
import Synchronization

/// Snapshot of a folder to pack: everything in it, hidden names included, in a fixed order. All calls block.
struct PackedTree: Sendable {
    struct Part: Sendable, Equatable {
        /// Below the folder; empty for the folder itself.
        let path: BytePath
        let header: PackedTreeHeader
        let fingerprint: Fingerprint

        /// The name inside the archive.
        var shown: BytePath { BytePath(bytes: header.path) }
    }

    let source: BytePath
    let parts: [Part]
    /// Bytes that the worker reads.
    let size: Int64
    /// Offset of each part's header.
    private let starts: [Int64]
    private static let deepest = 64

    /// - Throws: `Fault(.failed)` if the folder holds anything but files and folders, is nested too deeply, or has more
    ///   names than an archive may have when unpacked.
    init(_ folder: Folder, at source: BytePath) throws {
        self.source = source
        var parts: [Part] = []
        try Self.add(try folder.status(), BytePath(""), of: source, to: &parts)
        try Self.visit(folder, BytePath(""), of: source, depth: 0, to: &parts)
        var starts: [Int64] = []
        var size: Int64 = 0
        for part in parts {
            starts.append(size)
            let (next, isTooLarge) = size.addingReportingOverflow(
                Int64(PackedTreeHeader.fixedLength + part.header.path.count))
            let (end, isTooLargeToo) = next.addingReportingOverflow(part.header.size)
            guard !isTooLarge, !isTooLargeToo else {
                throw Fault(.failed, "the total size of the files in \(source) overflows 64 bits", path: source)
            }
            size = end
        }
        (self.parts, self.starts, self.size) = (parts, starts, size)
    }

    private static func visit(
        _ folder: Folder, _ below: BytePath, of source: BytePath, depth: Int, to parts: inout [Part]
    ) throws {
        guard depth < deepest else {
            throw Fault(.failed, "\(source) holds folders in folders, more than \(deepest) deep", path: source)
        }
        for name in try folder.entries().map(\.name).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let child = folder[name]
            guard let status = try child.status() else {
                throw Fault(
                    .superseded, "the contents of \(source) have changed since they were examined", path: source)
            }
            let path = below.appending(name: name)
            try add(status, path, of: source, to: &parts)
            if status.kind == .directory, let inner = try child.openFolder() {
                try visit(inner, path, of: source, depth: depth + 1, to: &parts)
            }
        }
    }

    private static func add(
        _ status: FileStatus, _ path: BytePath, of source: BytePath, to parts: inout [Part]
    ) throws {
        guard [.file, .directory].contains(status.kind) else {
            throw Fault(
                .failed, "\(source.appending(path)) is neither a file nor a folder, so \(source) is not packed",
                path: source)
        }
        guard parts.count < ArchiveLimits.maxHeaderCount else {
            throw Fault(
                .failed, "\(source) holds more than \(ArchiveLimits.maxHeaderCount) names, too many for one archive",
                path: source)
        }
        let isFolder = status.kind == .directory
        let header = PackedTreeHeader(
            path: source.name + (path.isEmpty ? [] : [UInt8(ascii: "/")] + path.bytes), isFolder: isFolder,
            modified: status.fingerprint.modified.dividedDown(by: 1_000_000_000), mode: UInt32(status.mode & 0o777),
            size: isFolder ? 0 : status.size)
        parts.append(Part(path: path, header: header, fingerprint: status.fingerprint))
    }

    /// Whether some program may read one of the names differently.
    var hasRewrittenNames: Bool { parts.contains { PackFormat.isRewritten($0.header.path) } }

    /// - Throws: `Fault(.failed)` if an archive of this format does not preserve a name.
    func check(for format: PackFormat) throws {
        for part in parts {
            guard let obstacle = format.obstacle(to: part.header.path) else { continue }
            throw Self.unkept(source.appending(part.path), obstacle, format)
        }
    }

    static func unkept(_ path: BytePath, _ obstacle: String, _ format: PackFormat) -> Fault {
        Fault(
            .failed,
            "the name of \(path) cannot be kept in a \(format.rawValue): \(obstacle); use `format: "
                + "\(PackFormat.forAnyName)`, or rename it",
            path: path)
    }

    /// The byte stream that the worker reads: each part's header, then its content.
    func asked(_ files: HeldFiles) -> AskedArchive {
        let open = OpenPart()
        return AskedArchive(path: source, size: size) { buffer, offset in
            var done = 0
            while done < buffer.count {
                let place = offset + Int64(done)
                let number = part(at: place)
                let header = parts[number].header.encoded
                let inner = place - starts[number]
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                if inner < Int64(header.count) {
                    let bytes = header[Int(inner)...].prefix(rest.count)
                    rest.copyBytes(from: bytes)
                    done += bytes.count
                } else {
                    let start = inner - Int64(header.count)
                    let count = Int(min(Int64(rest.count), parts[number].header.size - start))
                    let file = try open.file(number) { try opened(parts[number], files) }
                    let bytes = try file.read(at: start, count: count)
                    guard bytes.count == count, count > 0 else { throw changed() }
                    rest.copyBytes(from: bytes)
                    done += count
                }
            }
        }
    }

    /// The last part that starts at or before `place` and has a byte there.
    private func part(at place: Int64) -> Int {
        var (low, high) = (0, starts.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if starts[middle] <= place { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// Opens the part's file if it is still the one that was listed.
    private func opened(_ part: Part, _ files: HeldFiles) throws -> Descriptor {
        let file = try files.entry(source.appending(part.path)).openFile()
        guard try file.status().fingerprint == part.fingerprint else { throw changed() }
        return file
    }

    private func changed() -> Fault {
        Fault(.superseded, "the contents of \(source) have changed since they were examined", path: source)
    }

    /// Unpacks the archive again: it must hold all parts, byte for byte, and the folder must not have changed
    /// in the meantime.
    ///
    /// - Parameter folder: the packed folder, listed again for the comparison.
    func verify(_ archive: Descriptor, _ worker: ArchiveWorker, _ folder: Folder, _ files: HeldFiles) throws {
        var next = 0
        var current: Descriptor?
        var done: Int64 = 0
        func closed() -> Bool { next == 0 || done == parts[next - 1].header.size }
        func other(_ what: String) -> Fault {
            Fault(
                .failed, "the packed copy of \(source) differs from the folder, so it was not kept: \(what)",
                path: source)
        }
        try worker.unpack(archive, isOwn: true) { unpacked in
            switch unpacked {
            case .entry(let header):
                let name = BytePath(bytes: Self.plain(header.path))
                guard closed() else { throw other("\(parts[next - 1].shown) is shorter in it") }
                guard next < parts.count else { throw other("\(name) is not in the folder") }
                guard Self.plain(header.path) == parts[next].header.path else {
                    throw other("\(parts[next].shown) is called \(name) in it")
                }
                current = parts[next].header.isFolder ? nil : try opened(parts[next], files)
                (next, done) = (next + 1, 0)
            case .bytes(let bytes):
                guard let current, try current.read(at: done, count: bytes.count) == bytes else {
                    throw other("\(next > 0 ? parts[next - 1].shown : BytePath("")) holds something else in it")
                }
                done += Int64(bytes.count)
            case .end: break
            }
        }
        guard closed() else { throw other("\(parts[next - 1].shown) is shorter in it") }
        guard next == parts.count else { throw other("\(parts[next].shown) is missing in it") }
        guard try PackedTree(folder, at: source).parts == parts else { throw changed() }
    }

    /// Drops the slash that ends a folder's name in an archive.
    private static func plain(_ path: [UInt8]) -> [UInt8] {
        path.last == UInt8(ascii: "/") ? Array(path.dropLast()) : path
    }

    /// The file being read. A folder's files are read one after another, so one open file is enough.
    private final class OpenPart: Sendable {
        private let open = Mutex<(number: Int, file: Descriptor)?>(nil)

        func file(_ number: Int, _ make: () throws -> Descriptor) throws -> Descriptor {
            try open.withLock { open in
                if let open, open.number == number { return open.file }
                let file = try make()
                open = (number, file)
                return file
            }
        }
    }
}

extension Int64 {
    /// Rounded towards the past.
    fileprivate func dividedDown(by divisor: Int64) -> Int64 {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }
}
