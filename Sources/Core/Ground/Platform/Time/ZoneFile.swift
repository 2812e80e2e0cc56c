import Glibc
import Synchronization

/// A file of the zoneinfo database (TZif, RFC 8536, version 2 or later), reread when it was replaced.
///
/// Makes its system calls on the caller's thread, even on the cooperative pool, like the C library's `localtime`: it is
/// a small system file that is checked once a minute.
final class ZoneFile: Sendable {
    /// Detects whether a file was replaced.
    private struct Version: Equatable {
        let device: UInt
        let inode: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        init(_ status: stat) {
            (device, inode, size) = (UInt(status.st_dev), UInt(status.st_ino), Int(status.st_size))
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    private struct State {
        var rules: ZoneRules
        var version: Version
        /// On `clock`.
        var looked: Int
    }

    private static let all = Mutex<[String: ZoneFile]>([:])
    /// Seconds until the file is checked again.
    private static let interval = 60
    /// In bytes; the largest file of the database has some four thousand.
    private static let limit = 1 << 20

    private let path: String
    private let clock: @Sendable () -> Int
    private let state: Mutex<State>

    /// nil if there is no valid zone file.
    ///
    /// - Parameter clock: seconds of a clock that cannot be set.
    init?(_ path: String, clock: @escaping @Sendable () -> Int = ZoneFile.ticks) {
        guard let (rules, version) = Self.read(path) else { return nil }
        (self.path, self.clock) = (path, clock)
        state = Mutex(State(rules: rules, version: version, looked: clock()))
    }

    /// The shared instance for a path.
    static func shared(_ path: String) -> ZoneFile? {
        all.withLock { all in
            let file = all[path] ?? ZoneFile(path)
            all[path] = file
            return file
        }
    }

    /// The file's rules as of now, or as last readable.
    func rules() -> ZoneRules {
        state.withLock { state in
            let now = clock()
            guard now - state.looked >= Self.interval else { return state.rules }
            state.looked = now
            if Self.version(path) != state.version, let (rules, version) = Self.read(path) {
                (state.rules, state.version) = (rules, version)
            }
            return state.rules
        }
    }

    static func ticks() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec
    }

    private static func version(_ path: String) -> Version? {
        var status = stat()
        return stat(path, &status) == 0 ? Version(status) : nil
    }

    private static func read(_ path: String) -> (ZoneRules, Version)? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { return nil }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { $1 = max(0, Glibc.read(file, $0.baseAddress, size)) }
        guard bytes.count == size else { return nil }
        var reader = TZifReader(bytes)
        return reader.rules().map { ($0, Version(status)) }
    }
}

/// Parses TZif from the front; nil for anything missing or invalid.
private struct TZifReader {
    private var rest: ArraySlice<UInt8>

    /// The earliest time that RFC 8536 recommends, as a distance from 1970 in seconds. Beyond it, calendar arithmetic
    /// could overflow.
    private static let farthest: UInt = 1 << 59

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The counts in a block's header.
    private struct Header {
        let version: UInt8
        let utc: Int
        let standard: Int
        let leaps: Int
        let times: Int
        let types: Int
        let letters: Int

        /// The block's length in bytes without its times and types.
        func tail(timeSize: Int) -> Int { letters + leaps * (timeSize + 4) + standard + utc }
    }

    /// nil for a version 1 file, and for one with leap seconds, which no other clock here counts.
    mutating func rules() -> ZoneRules? {
        guard let old = header(), old.version >= UInt8(ascii: "2"),
            take(old.times * 5 + old.types * 6 + old.tail(timeSize: 4)) != nil, let header = header(),
            header.leaps == 0,
            header.types > 0, let times = take(header.times * 8), let places = take(header.times),
            let types = take(header.types * 6), take(header.tail(timeSize: 8)) != nil
        else { return nil }
        let offsets = (0..<header.types).map { Self.number(types.dropFirst($0 * 6).prefix(4)) }
        guard places.allSatisfy({ $0 < header.types }), offsets.allSatisfy({ abs($0) < 26 * 3_600 }) else { return nil }
        let changes = places.enumerated().map { index, place in
            (time: Self.number(times.dropFirst(index * 8).prefix(8)), offset: offsets[Int(place)])
        }
        guard changes.allSatisfy({ $0.time.magnitude <= Self.farthest }),
            zip(changes, changes.dropFirst()).allSatisfy({ $0.time < $1.time })
        else { return nil }
        guard rest.count >= 2, rest.first == UInt8(ascii: "\n"), rest.last == UInt8(ascii: "\n") else { return nil }
        let footer = rest.dropFirst().dropLast()
        let rule = PosixRule(String(decoding: footer, as: UTF8.self))
        guard footer.isEmpty || rule != nil else { return nil }
        if changes.isEmpty, let rule { return ZoneRules(rule) }
        return ZoneRules(first: offsets[0], changes, then: rule)
    }

    private mutating func header() -> Header? {
        guard let bytes = take(44), bytes.starts(with: Array("TZif".utf8)) else { return nil }
        let counts = (0..<6).map { Self.number(bytes.dropFirst(20 + $0 * 4).prefix(4)) }
        guard counts.allSatisfy({ (0...65_536).contains($0) }) else { return nil }
        return Header(
            version: bytes[bytes.startIndex + 4], utc: counts[0], standard: counts[1], leaps: counts[2],
            times: counts[3], types: counts[4], letters: counts[5])
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Two's complement, big-endian.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        let sign = bytes.first.map { $0 & 0x80 != 0 } ?? false
        return bytes.reduce(sign ? -1 : 0) { $0 << 8 | Int($1) }
    }
}
