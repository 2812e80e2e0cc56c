import Foundation
import Platform

/// Dates formatted with Unicode CLDR patterns and the words of a language. Each call creates a formatter, which takes
/// a tenth of a millisecond: fine for steps, too slow for conditions.
enum LocaleFormat {
    private static let letters = Set("GyYuUQqMLwWdDFgEecabBhHkKmsSAzZOvVXx")

    /// A fixed default, since the result must not depend on the machine.
    private static let standard = "en"

    /// - Parameter local: local time at `time`.
    static func string(
        _ time: Timestamp, _ local: LocalTime, _ pattern: String, locale: String?, _ timeZone: Zone
    ) -> String {
        // A quarter into the millisecond, the finest that is shown: as a `Double`, the end of a second is the next one.
        let milliseconds = Double(time.fraction / 1_000_000) + 0.25
        let date = Date(timeIntervalSince1970: Double(time.wholeSeconds) + milliseconds / 1_000)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: identifier(locale ?? standard))
        formatter.calendar = Calendar(identifier: .gregorian)
        // The offset comes from the system's time zone data, as the formatter's own may differ.
        let named = TimeZone(identifier: timeZone.identifier)
        let isSame = named?.secondsFromGMT(for: date) == local.offset
        formatter.timeZone = isSame ? named : TimeZone(secondsFromGMT: local.offset)
        formatter.dateFormat = pattern
        return formatter.string(from: date)
    }

    static func fault(_ setting: TemplateFilter.Setting) -> String? {
        if let message = faultOfPattern(setting.argument) { return message }
        guard let locale = setting.options["locale"] else { return nil }
        if Locale.availableIdentifiers.contains(identifier(locale)) { return nil }
        return "`\(printable(locale))` is no language that is known here; name it as `de`, `fr` or `pt_BR`"
    }

    /// Converts `de-AT` to `de_AT`.
    private static func identifier(_ locale: String) -> String { locale.replacing("-", with: "_") }

    private static func faultOfPattern(_ pattern: String) -> String? {
        if pattern.isEmpty { return "`format` needs a pattern" }
        if pattern.contains("%") { return "`format` takes `d MMMM yyyy`; `date` takes `%d %B %Y`" }
        var isQuoted = false
        for character in pattern {
            if character == "'" {
                isQuoted.toggle()
            } else if !isQuoted, character.isASCII, character.isLetter, !letters.contains(character) {
                return "`\(character)` is no letter of date patterns; put text in single quotes"
            }
        }
        return isQuoted ? "a single quote in the pattern is never closed" : nil
    }
}
