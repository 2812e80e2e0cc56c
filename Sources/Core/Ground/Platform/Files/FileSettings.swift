import Glibc

/// Sets permissions, owner and times of open files. Every call blocks.
extension Descriptor {
    /// When it was last read, in nanoseconds since 1970, as far as the file system records that.
    package func accessed() throws -> Int64 {
        Blocking.call()
        var found = stat()
        guard fstat(raw, &found) == 0 else { throw Fault.system("read the status of", path) }
        return Int64(found.st_atim.tv_sec) &* 1_000_000_000 &+ Int64(found.st_atim.tv_nsec)
    }

    /// - Parameter mode: only permission bits.
    package func setMode(_ mode: mode_t) throws {
        Blocking.call()
        guard fchmod(raw, mode) == 0 else { throw Fault.system("set the mode of", path) }
        FaultPoint.reach("mode set")
    }

    /// - Parameters:
    ///   - owner: nil leaves it unchanged; likewise `group`.
    package func setOwner(_ owner: uid_t?, group: gid_t?) throws {
        Blocking.call()
        guard fchown(raw, owner ?? uid_t.max, group ?? gid_t.max) == 0 else {
            throw Fault.system("set the owner of", path)
        }
        FaultPoint.reach("owner set")
    }

    /// - Parameters:
    ///   - accessed: nanoseconds since 1970; nil leaves it unchanged; likewise `modified`.
    package func setTimes(accessed: Int64?, modified: Int64?) throws {
        Blocking.call()
        let times = [Self.time(accessed), Self.time(modified)]
        guard futimens(raw, times) == 0 else { throw Fault.system("set the times of", path) }
        FaultPoint.reach("times set")
    }

    /// UTIME_OMIT, which Glibc does not expose to Swift.
    private static let omitted = (1 << 30) - 2

    private static func time(_ nanoseconds: Int64?) -> timespec {
        guard let nanoseconds else { return timespec(tv_sec: 0, tv_nsec: omitted) }
        var (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if rest < 0 { (seconds, rest) = (seconds - 1, rest + 1_000_000_000) }
        return timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    }
}
