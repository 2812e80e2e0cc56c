import Glibc
import OwnFiles
import Platform

/// A cache of thumbnails on disk with LRU eviction (docs/design/comic-archives.md, "Thumbnails").
///
/// Any process may use the folder at any time, and anything in it may be damaged or deleted: at worst a thumbnail is
/// made again. It is not synced; a checksum detects damage from a crash. Only files with names of the cache's own form
/// are ever removed. Everything here blocks.
package struct ThumbnailCache: Sendable {
    package let folder: BytePath
    /// Bytes on disk.
    package let limit: Int64
    private let clock: @Sendable () -> Timestamp

    package static let defaultLimit: Int64 = 500_000_000

    /// - Parameters:
    ///   - folder: the cache's own; created when needed.
    ///   - limit: bytes on disk; above it, the least recently used files are removed down to nine tenths of it.
    package init(
        folder: BytePath, limit: Int64 = defaultLimit, clock: @escaping @Sendable () -> Timestamp = { Timestamp.now() }
    ) {
        self.folder = folder
        self.limit = max(0, limit)
        self.clock = clock
    }

    /// The JPEG, or nil if there is none. Its use is recorded at most once a day, so that reading hardly writes to the
    /// disk.
    package func find(_ key: ThumbnailKey) throws -> [UInt8]? {
        let path = file(key)
        let found: Descriptor
        do {
            found = try Descriptor(path)
        } catch let fault as Fault where [ENOENT, ENOTDIR, ELOOP].contains(fault.errno) {
            return nil
        }
        let status = try found.status()
        guard status.kind == .file else { return nil }
        let bytes = try found.readAll(limit: Self.sizeLimit)
        guard bytes.count > Self.sumLength, bytes.suffix(Self.sumLength) == Self.sum(key, bytes) else {
            try Durable.remove(path)
            return nil
        }
        let now = clock().nanoseconds
        if !Self.isWithinADay(status.fingerprint.modified, of: now) { touch(found, now) }
        return Array(bytes.dropLast(Self.sumLength))
    }

    /// Stores a JPEG, and makes room for it if needed.
    package func keep(_ jpeg: [UInt8], for key: ThumbnailKey) throws {
        guard jpeg.count + Self.sumLength <= Self.sizeLimit else { return }
        let path = file(key)
        let bytes = jpeg + Self.sum(key, jpeg + [UInt8](repeating: 0, count: Self.sumLength))
        let temporary = path.parent.appending("\(Self.temporaryPrefix)\(randomHex(8))")
        // A person may delete the folder between the two.
        for attempt in 1...3 {
            try Durable.makeDirectory(path.parent, mode: 0o700)
            do {
                let file = try Descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
                try file.write(bytes, at: 0)
                touch(file, clock().nanoseconds)
                break
            } catch let fault as Fault where fault.errno == ENOENT && attempt < 3 {
                continue
            } catch {
                try? Durable.remove(temporary)
                throw error
            }
        }
        guard temporary.withCString({ from in path.withCString { to in rename(from, to) } }) == 0 else {
            let fault = Fault.system("keep a thumbnail in", path.parent)
            try? Durable.remove(temporary)
            if fault.errno == ENOENT { return }
            throw fault
        }
        try count(Self.onDisk(Int64(bytes.count)))
    }

    // MARK: Names

    /// Bytes of one file.
    private static let sizeLimit: Int64 = 64 << 20
    private static let day: Int64 = 86_400 * 1_000_000_000
    private static let temporaryPrefix = ".new-"
    private static let sumLength = 16

    private func file(_ key: ThumbnailKey) -> BytePath {
        let name = key.name.description
        return folder.appending(String(name.prefix(2))).appending("\(name).jpg")
    }

    /// The checksum after the JPEG, where no decoder looks.
    private static func sum(_ key: ThumbnailKey, _ bytes: [UInt8]) -> [UInt8] {
        Array(ContentHash(of: key.name.bytes + bytes.dropLast(sumLength)).bytes.prefix(sumLength))
    }

    /// Both may be any number: files and their times are untrusted.
    private static func isWithinADay(_ time: Int64, of now: Int64) -> Bool {
        let (difference, isFar) = now.subtractingReportingOverflow(time)
        return !isFar && difference.magnitude <= UInt64(day)
    }

    private static func onDisk(_ size: Int64) -> Int64 { (size + 4095) / 4096 * 4096 }

    /// Best effort: a cache whose files belong to another user still works, only without recording use.
    private func touch(_ file: Descriptor, _ nanoseconds: Int64) {
        let stamp = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        _ = futimens(file.raw, [stamp, stamp])
    }

    // MARK: Room

    private struct Tally {
        var bytes: Int64
        /// When the files themselves were last counted; a process that dies at the wrong moment leaves a wrong sum.
        var counted: Int64
    }

    /// Adds to the sum shared by all processes, and evicts if it exceeds the limit.
    private func count(_ added: Int64) throws {
        try withTally { tally in
            let now = clock().nanoseconds
            tally.bytes += added
            if tally.bytes <= limit, Self.isWithinADay(tally.counted, of: now) { return }
            tally = Tally(bytes: try evict(now), counted: now)
        }
    }

    /// If the limit is exceeded, removes the least recently used files until nine tenths of it are left.
    ///
    /// - Returns: the bytes left.
    private func evict(_ now: Int64) throws -> Int64 {
        var left: Int64 = 0
        var kept: [(path: BytePath, size: Int64, used: Int64)] = []
        for file in try files() {
            if file.isTemporary {
                if !Self.isWithinADay(file.used, of: now) { try Durable.remove(file.path) }
            } else {
                kept.append((file.path, file.size, file.used))
                left += file.size
            }
        }
        guard left > limit else { return left }
        kept.sort { $0.used != $1.used ? $0.used < $1.used : $0.path < $1.path }
        for file in kept {
            if left <= limit / 10 * 9 { break }
            try Durable.remove(file.path)
            left -= file.size
        }
        return left
    }

    /// Passes the sum to `body` under a lock across processes, and writes it back.
    private func withTally(_ body: (inout Tally) throws -> Void) throws {
        try Durable.makeDirectory(folder, mode: 0o700)
        let file = try Descriptor(folder.appending("tally"), O_RDWR | O_CREAT, mode: 0o600)
        try FileLock.wait(on: file)
        let text = String(decoding: try file.read(at: 0, count: 64), as: UTF8.self)
        let numbers = text.split(separator: "\n").first.map { $0.split(separator: " ").map { Int64($0) } } ?? []
        // An unreadable tally counts as infinitely old, so that the files are counted.
        var tally = Tally(bytes: 0, counted: .min)
        if numbers.count == 2, let bytes = numbers[0], let counted = numbers[1], (0...1 << 60).contains(bytes) {
            tally = Tally(bytes: bytes, counted: counted)
        }
        try body(&tally)
        try file.truncate(to: 0)
        try file.write(Array("\(tally.bytes) \(tally.counted)\n".utf8), at: 0)
    }

    /// The names of the folders that hold thumbnails: two hexadecimal digits.
    private func folders() throws -> [[UInt8]] {
        guard try FileStatus.of(folder)?.kind == .directory else { return [] }
        return try listDirectory(folder).map(\.name).filter { $0.count == 2 && Self.isHexadecimal($0) }
    }

    /// Every file with a name of this type's form; others are foreign.
    private func files() throws -> [(path: BytePath, size: Int64, used: Int64, isTemporary: Bool)] {
        var found: [(BytePath, Int64, Int64, Bool)] = []
        for name in try folders() {
            let parent = folder.appending(name: name)
            guard try FileStatus.of(parent)?.kind == .directory else { continue }
            for entry in try listDirectory(parent) {
                let isTemporary = entry.name.starts(with: Self.temporaryPrefix.utf8)
                let isOwn = entry.name.count == 68 && entry.name.suffix(4).elementsEqual(".jpg".utf8)
                guard isTemporary || isOwn && Self.isHexadecimal(entry.name.prefix(64)) else { continue }
                let path = parent.appending(name: entry.name)
                guard let status = try FileStatus.of(path), status.kind == .file else { continue }
                found.append((path, Self.onDisk(status.size), status.fingerprint.modified, isTemporary))
            }
        }
        return found
    }

    private static func isHexadecimal(_ name: some Sequence<UInt8>) -> Bool {
        name.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
