import Glibc

/// A point in time, in nanoseconds since 1970 UTC.
package struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Times before 1678 or after 2261 are clamped to the representable range: files may claim any year.
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
        adding(nanoseconds: Self.nanoseconds(seconds))
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// ISO 8601 in UTC with milliseconds: `2026-11-21T09:30:00.123Z`.
    package var description: String { text(digits: 3) }

    /// Whole seconds since 1970, rounded down.
    package var wholeSeconds: Int {
        nanoseconds < 0 ? Int((nanoseconds + 1) / 1_000_000_000) - 1 : Int(nanoseconds / 1_000_000_000)
    }

    /// Nanoseconds since the last whole second.
    package var fraction: Int64 {
        let rest = nanoseconds % 1_000_000_000
        return rest < 0 ? rest + 1_000_000_000 : rest
    }

    /// - Parameter digits: of the second's fraction, up to 9.
    package func text(digits: Int) -> String {
        "\(CivilDateTime(secondsSince1970: wholeSeconds)).\(fraction.padded(9).prefix(digits))Z"
    }

    /// Parses the output of `text(digits: 9)`; nil for anything else, and for a time out of range.
    package init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 19, parts[0].contains("T"), parts[1].utf8.count == 10,
            parts[1].hasSuffix("Z"), parts[1].dropLast().allSatisfy({ ("0"..."9").contains($0) }),
            let civil = CivilDateTime(parts[0]), let rest = Int128(parts[1].dropLast()),
            let nanoseconds = Int64(exactly: Int128(civil.secondsSince1970) * 1_000_000_000 + rest)
        else { return nil }
        self.nanoseconds = nanoseconds
    }

    /// Seconds since 1970, clamped to the representable range.
    package init(whole seconds: Int) {
        nanoseconds = Int64(clamping: Int128(seconds) * 1_000_000_000)
    }

    /// Adds nanoseconds, clamped to the representable range.
    package func adding(nanoseconds more: Int64) -> Timestamp {
        Timestamp(nanoseconds: Int64(clamping: Int128(nanoseconds) + Int128(more)))
    }

    /// The next representable time.
    package var next: Timestamp { adding(nanoseconds: 1) }
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
