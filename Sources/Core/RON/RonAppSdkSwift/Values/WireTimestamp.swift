import Foundation
import Platform

extension Date: WireValue {
    private static let years = 1...9_999
    private static let secondsUntil2001 = Int(timeIntervalBetween1970AndReferenceDate)

    /// Decodes an ISO 8601 time with an offset, with or without fractional seconds.
    ///
    /// - Parameter decoder: The decoder.
    /// - Returns: The time, in the precision of `Date`, about 100 ns in this century.
    /// - Throws: `DecodingError.dataCorrupted` that names the value if it is not such a time.
    public static func decodeFromWire(_ decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = Date(timestamp: text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(quoted(text)) is no time in ISO 8601 with an offset, as 2026-01-02T03:04:05.25Z")
        }
        return time
    }

    /// Encodes ISO 8601 in UTC, with the fewest fractional digits that round-trip, at most nine.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError.invalidValue` if the time is not in the years 1 to 9999.
    public func encodeToWire(_ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let timestamp else {
            throw EncodingError.invalidValue(
                self,
                .init(codingPath: encoder.codingPath, debugDescription: "Only the years 1 to 9999 have a timestamp"))
        }
        try container.encode(timestamp)
    }

    /// The time in ISO 8601; nil outside of the years 1 to 9999.
    ///
    /// Not by Foundation, which switches to the Julian calendar before 1582: it reads `0001-01-01T00:00:00Z`, which
    /// servers send for "never", two days off.
    var timestamp: String? {
        let seconds = timeIntervalSinceReferenceDate
        let whole = seconds.rounded(.down)
        guard abs(whole) < 1e12 else { return nil }
        let time = CivilDateTime(secondsSince1970: Int(whole) + Self.secondsUntil2001)
        guard Self.years.contains(time.date.year) else { return nil }
        for digits in 0...9 {
            let unit = pow(10, Double(digits))
            let fraction = ((seconds - whole) * unit).rounded()
            guard digits == 9 || whole + fraction / unit == seconds else { continue }
            // A fraction that rounds up to a whole second carries over.
            guard fraction < unit else {
                return "\(CivilDateTime(secondsSince1970: time.secondsSince1970 + 1))Z"
            }
            return fraction > 0 ? "\(time).\(Int(fraction).padded(digits))Z" : "\(time)Z"
        }
        return nil
    }

    /// A time from ISO 8601 with an offset; nil for anything else.
    init?(timestamp text: String) {
        let form =
            /([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2}))/
        guard let parts = text.wholeMatch(of: form)?.output, let time = CivilDateTime("\(parts.1)T\(parts.2)"),
            Self.years.contains(time.date.year)
        else { return nil }
        let minutes = (parts.5.flatMap { Int($0) } ?? 0) * 60 + (parts.6.flatMap { Int($0) } ?? 0)
        let offset = (parts.4 == "-" ? -minutes : minutes) * 60
        let whole = time.secondsSince1970 - offset - Self.secondsUntil2001
        let fraction = parts.3.flatMap { Double("0.\($0)") } ?? 0
        self.init(timeIntervalSinceReferenceDate: Double(whole) + fraction)
    }
}
