import Glibc

/// A point in time, nanoseconds since 1970 UTC, and where the agent takes it from.
package struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// A time before 1678 or after 2261 is the first or last that can be told so: what a file says may be any year.
    package init(seconds: Double) { nanoseconds = Self.nanoseconds(seconds) }

    private static func nanoseconds(_ seconds: Double) -> Int64 {
        Int64(exactly: (seconds * 1e9).rounded(.towardZero)) ?? (seconds < 0 ? .min : .max)
    }

    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package var seconds: Double { Double(nanoseconds) / 1e9 }

    package func adding(seconds: Double) -> Timestamp {
        let (sum, isFar) = nanoseconds.addingReportingOverflow(Self.nanoseconds(seconds))
        return Timestamp(nanoseconds: isFar ? (seconds < 0 ? .min : .max) : sum)
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// ISO 8601 in UTC with milliseconds: `2026-11-21T09:30:00.123Z`.
    package var description: String { text(digits: 3) }

    /// - Parameter digits: of the second's fraction, up to 9.
    private func text(digits: Int) -> String {
        var (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if rest < 0 { (seconds, rest) = (seconds - 1, rest + 1_000_000_000) }
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let whole = String(unsafeUninitializedCapacity: 32) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                strftime(text.baseAddress, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
            }
        }
        return "\(whole).\(String(1_000_000_000 + rest).dropFirst().prefix(digits))Z"
    }

    /// Reads what `text(digits: 9)` wrote; nil for anything else.
    private init?(text: String) {
        let parts = text.split { !$0.isNumber }.map { Int($0) }
        guard text.hasSuffix("Z"), parts.count == 7, text.split(separator: ".").last?.count == 10 else { return nil }
        let numbers = parts.compactMap { $0 }
        guard numbers.count == 7 else { return nil }
        var broken = tm()
        broken.tm_year = Int32(numbers[0] - 1900)
        broken.tm_mon = Int32(numbers[1] - 1)
        broken.tm_mday = Int32(numbers[2])
        broken.tm_hour = Int32(numbers[3])
        broken.tm_min = Int32(numbers[4])
        broken.tm_sec = Int32(numbers[5])
        nanoseconds = Int64(timegm(&broken)) * 1_000_000_000 + Int64(numbers[6])
    }
}

/// As text, ISO 8601 in UTC with nanoseconds: `2026-11-21T09:30:00.123456789Z`.
extension Timestamp: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = Timestamp(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a time in ISO 8601 with nanoseconds")
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text(digits: 9))
    }
}
