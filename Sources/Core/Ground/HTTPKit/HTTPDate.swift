import Foundation
import Glibc

/// The date format of `Retry-After` and other headers (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Parses the three formats of RFC 9110; nil for anything else.
    static func date(_ text: String) -> Date? {
        let words = text.split { " ,-:".contains($0) }
        // `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
        let isOld = words.count == 7
        guard isOld || words.count == 8 && words[7] == "GMT",
            let month = months.firstIndex(of: String(words[isOld ? 1 : 2]))
        else { return nil }
        let numbers = (isOld ? [6, 2, 3, 4, 5] : [3, 1, 4, 5, 6]).compactMap { Int32(words[$0]) }
        guard numbers.count == 5 else { return nil }
        let year = words[isOld ? 6 : 3].count == 2 ? numbers[0] + (numbers[0] < 70 ? 2000 : 1900) : numbers[0]
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, Int32(month), numbers[1])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[2], numbers[3], numbers[4])
        let seconds = timegm(&parts)
        // `timegm` takes 30 February for 2 March.
        guard [parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec] == Array(numbers.dropFirst()) else {
            return nil
        }
        return Date(timeIntervalSince1970: Double(seconds))
    }
}
