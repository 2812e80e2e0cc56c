import Foundation
import Platform

/// The daily note: its path and its initial content. Pure; nothing is created here (docs/design/a4.md).
public enum Daily {
    /// The path of the day's note below the vault: `capture/YYYY/YYYY-MM/YYYY-MM-DD.md`.
    public static func relativePath(for day: UtcDay) -> String {
        let (year, month, file) = Dates.dailyPathComponents(for: day)
        return "capture/\(year)/\(month)/\(file)"
    }

    /// Replaces a daily template's placeholders: `{{now_utc}}` (`2025-09-14T07:58:12Z`), `{{hhmm}}` (the time of day in
    /// `timeZone`) and `{{YYYY-MM-DD}}` (the day in UTC). All other bytes are unchanged, including other placeholders.
    public static func fill(template: Data, date: Date, timeZone: TimeZone) -> Data {
        fill(template: template, date: date, hhmm: Dates.localHHMM(from: date, timeZone: timeZone))
    }

    /// The same, with the system's time zones.
    package static func fill(template: Data, date: Date, zone: Zone) -> Data {
        fill(template: template, date: date, hhmm: Dates.localHHMM(from: date, zone: zone))
    }

    private static func fill(template: Data, date: Date, hhmm: String) -> Data {
        let values: [(placeholder: [UInt8], value: String)] = [
            (Array("{{now_utc}}".utf8), Dates.iso8601(date)),
            (Array("{{hhmm}}".utf8), hhmm),
            (Array("{{YYYY-MM-DD}}".utf8), String(Dates.iso8601(date).prefix { $0 != "T" })),
        ]
        var filled = Data()
        var rest = Array(template)[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
            filled.append(contentsOf: rest[..<open])
            rest = rest[open...]
            if let found = values.first(where: { rest.starts(with: $0.placeholder) }) {
                filled.append(contentsOf: found.value.utf8)
                rest = rest.dropFirst(found.placeholder.count)
            } else {
                filled.append(UInt8(ascii: "{"))
                rest = rest.dropFirst()
            }
        }
        filled.append(contentsOf: rest)
        return filled
    }
}
