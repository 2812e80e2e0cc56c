import Foundation
import Platform

/// strftime's letters in English, in a given time zone, independent of the process's locale and zone.
package struct DateFormat: Sendable {
    private let format: String
    private let timeZone: TimeZone

    private static let letters = "YmdHMSjyeBbAaVuzsFTIp%"
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    package init(_ format: String, timeZone: TimeZone) {
        self.format = format
        self.timeZone = timeZone
    }

    /// Says which letter of `format` is not known; nil if all are.
    package static func fault(_ format: String) -> String? {
        if format.isEmpty { return "`date` needs a format" }
        var rest = format[...]
        while let percent = rest.firstIndex(of: "%") {
            let after = rest.index(after: percent)
            guard after < rest.endIndex else { return "`%` stands before nothing in the date format" }
            guard letters.contains(rest[after]) else {
                return "`%\(printable(String(rest[after])))` is no letter of date formats"
            }
            rest = rest[rest.index(after: after)...]
        }
        return nil
    }

    package func string(_ time: Timestamp) -> String {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = timeZone
        let date = Date(timeIntervalSince1970: time.seconds)
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second, .weekday, .weekOfYear, .dayOfYear], from: date)
        let offset = timeZone.secondsFromGMT(for: date)
        var out = ""
        var rest = format[...]
        while let character = rest.popFirst() {
            guard character == "%", let letter = rest.popFirst() else {
                out.append(character)
                continue
            }
            out += Self.field(letter, parts, offset: offset, time: time)
        }
        return out
    }

    private static func field(_ letter: Character, _ parts: DateComponents, offset: Int, time: Timestamp) -> String {
        func two(_ value: Int?) -> String { (value ?? 0).padded(2) }
        let hour = parts.hour ?? 0
        let month = (parts.month ?? 1) - 1
        let day = (parts.weekday ?? 1) - 1
        switch letter {
        case "Y": return (parts.year ?? 0).padded(4)
        case "y": return two((parts.year ?? 0) % 100)
        case "m": return two(parts.month)
        case "d": return two(parts.day)
        case "e": return String(parts.day ?? 0)
        case "H": return two(hour)
        case "I": return two((hour + 11) % 12 + 1)
        case "p": return hour < 12 ? "AM" : "PM"
        case "M": return two(parts.minute)
        case "S": return two(parts.second)
        case "j": return (parts.dayOfYear ?? 0).padded(3)
        case "B": return months.indices.contains(month) ? months[month] : ""
        case "b": return months.indices.contains(month) ? String(months[month].prefix(3)) : ""
        case "A": return days.indices.contains(day) ? days[day] : ""
        case "a": return days.indices.contains(day) ? String(days[day].prefix(3)) : ""
        case "V": return two(parts.weekOfYear)
        case "u": return String(day == 0 ? 7 : day)
        case "s": return String(Int(time.seconds.rounded(.down)))
        case "F": return "\((parts.year ?? 0).padded(4))-\(two(parts.month))-\(two(parts.day))"
        case "T": return "\(two(hour)):\(two(parts.minute)):\(two(parts.second))"
        case "z":
            if offset == 0 { return "Z" }
            let minutes = abs(offset) / 60
            return (offset < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60)
        default: return String(letter)
        }
    }

    /// The date that a value holds: a date, or text that begins as ISO 8601 does (`2026-11-21`,
    /// `2026-11-21T09:30`, `2026-11-21 09:30:15Z`); without an offset, a time of `timeZone`.
    package static func date(_ value: Value, _ timeZone: TimeZone) -> Timestamp? {
        if case .date(let time) = value { return time }
        guard case .text(let text) = value,
            let match = text.trimmedSpaces.wholeMatch(
                of: /(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?/)
        else { return nil }
        var zone = timeZone
        if let offset = match.7 {
            let digits = offset.compactMap(\.wholeNumberValue)
            let seconds =
                digits.count == 4 ? (digits[0] * 10 + digits[1]) * 3_600 + (digits[2] * 10 + digits[3]) * 60 : 0
            guard let fixed = TimeZone(secondsFromGMT: offset.hasPrefix("-") ? -seconds : seconds) else { return nil }
            zone = fixed
        }
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = zone
        let parts = DateComponents(
            year: Int(match.1), month: Int(match.2), day: Int(match.3), hour: match.4.flatMap { Int($0) } ?? 0,
            minute: match.5.flatMap { Int($0) } ?? 0, second: match.6.flatMap { Int($0) } ?? 0)
        guard let month = parts.month, (1...12).contains(month), let day = parts.day, (1...31).contains(day),
            (parts.hour ?? 0) < 24, (parts.minute ?? 0) < 60, let date = calendar.date(from: parts)
        else { return nil }
        return CalendarTime.timestamp(date)
    }
}
