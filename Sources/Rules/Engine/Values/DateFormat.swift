import Platform

/// strftime formats in English, for a given time zone, independent of the process's locale and time zone.
package struct DateFormat: Sendable {
    private let format: String
    private let timeZone: Zone

    private static let letters = "YmdHMSjyeBbAaVuzsFTIp%"
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    package init(_ format: String, timeZone: Zone) {
        self.format = format
        self.timeZone = timeZone
    }

    /// The error in `format`, or nil.
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

    package func string(_ time: Timestamp) -> String { string(timeZone.local(at: time)) }

    /// Formats a local time, whatever the time zone.
    func string(_ local: LocalTime) -> String {
        var out = ""
        var rest = format[...]
        while let character = rest.popFirst() {
            guard character == "%", let letter = rest.popFirst() else {
                out.append(character)
                continue
            }
            out += Self.field(letter, local)
        }
        return out
    }

    private static func field(_ letter: Character, _ local: LocalTime) -> String {
        let (civil, date) = (local.civil, local.civil.date)
        switch letter {
        case "Y": return date.year.padded(4)
        case "y": return (date.year % 100).padded(2)
        case "m": return date.month.padded(2)
        case "d": return date.day.padded(2)
        case "e": return String(date.day)
        case "H": return civil.hour.padded(2)
        case "I": return ((civil.hour + 11) % 12 + 1).padded(2)
        case "p": return civil.hour < 12 ? "AM" : "PM"
        case "M": return civil.minute.padded(2)
        case "S": return civil.second.padded(2)
        case "j": return date.dayOfYear.padded(3)
        case "B": return months[date.month - 1]
        case "b": return String(months[date.month - 1].prefix(3))
        case "A": return days[date.weekday % 7]
        case "a": return String(days[date.weekday % 7].prefix(3))
        case "V": return date.week.number.padded(2)
        case "u": return String(date.weekday)
        case "s": return String(local.secondsSince1970)
        case "F": return date.description
        case "T": return civil.time
        case "z":
            if local.offset == 0 { return "Z" }
            let minutes = abs(local.offset) / 60
            return (local.offset < 0 ? "-" : "+") + (minutes / 60).padded(2) + ":" + (minutes % 60).padded(2)
        default: return String(letter)
        }
    }

    /// The date in a value: a date, or text that begins with an ISO 8601 date and time such as `2026-11-21`,
    /// `2026-11-21T09:30` or `2026-11-21 09:30:15Z`. Without an offset, the time is in `timeZone`.
    package static func date(_ value: Value, _ timeZone: Zone) -> Timestamp? {
        if case .date(let time) = value { return time }
        return local(value, timeZone)?.time
    }

    /// The same as local time. A time written without an offset stays as written, even if the zone's clocks skip it.
    static func local(_ value: Value, _ timeZone: Zone) -> LocalTime? {
        switch value {
        case .date(let time): return timeZone.local(at: time)
        case .local(let local): return local
        case .text(let text):
            let form = /(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?:(:\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?/
            guard let match = text.trimmedSpaces.wholeMatch(of: form),
                let civil = CivilDateTime("\(match.1)\(match.2.map { "T\($0)\(match.3 ?? "")" } ?? "")")
            else { return nil }
            let found: LocalTime
            if let offset = match.4 {
                let digits = offset.compactMap(\.wholeNumberValue).reduce(0) { $0 * 10 + $1 }
                let seconds = digits / 100 * 3_600 + digits % 100 * 60
                guard seconds <= 18 * 3_600 else { return nil }
                let written = LocalTime(civil, offset: offset.hasPrefix("-") ? -seconds : seconds)
                found = timeZone.local(at: written.secondsSince1970)
            } else {
                found = timeZone.resolve(civil)
            }
            return found.time == nil ? nil : found
        case .integer, .boolean, .list: return nil
        }
    }
}
