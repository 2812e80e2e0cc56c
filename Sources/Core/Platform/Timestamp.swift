import Glibc

/// A point in time, nanoseconds since 1970 UTC, and where the agent takes it from.
package struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package init(seconds: Double) { nanoseconds = Int64(seconds * 1e9) }

    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package var seconds: Double { Double(nanoseconds) / 1e9 }

    package func adding(seconds: Double) -> Timestamp { Timestamp(nanoseconds: nanoseconds + Int64(seconds * 1e9)) }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// ISO 8601 in UTC with milliseconds: `2026-11-21T09:30:00.123Z`.
    package var description: String {
        var (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if rest < 0 { (seconds, rest) = (seconds - 1, rest + 1_000_000_000) }
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(Int(parts.tm_year) + 1900, 4) + "-" + padded(Int(parts.tm_mon) + 1, 2) + "-"
            + padded(Int(parts.tm_mday), 2) + "T" + padded(Int(parts.tm_hour), 2) + ":" + padded(Int(parts.tm_min), 2)
            + ":" + padded(Int(parts.tm_sec), 2) + "." + padded(Int(rest / 1_000_000), 3) + "Z"
    }
}
