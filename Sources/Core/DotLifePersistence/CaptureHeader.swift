import DotLifeDomain
import Foundation
import Platform

/// What the top of a dropped text says of the capture, and the text without it.
///
/// `time:` and `moment:` are read from front matter (docs/design/front-matter.md), or from the very first lines. Other
/// front matter stays in the text.
struct CaptureHeader {
    var time: Date?
    var moment: MomentType?
    var body: String

    /// - Throws: `Fault(.refused)` where front matter gives a time or moment that is none. A first line that is none
    ///   is a person's sentence, and stays.
    init(_ text: String, arrival: Date, timeZone: TimeZone) throws {
        // To Swift CR LF is one character, other than LF.
        let plain = text.replacing("\r\n", with: "\n")
        var lines = Self.lines(plain)
        body = ""
        if let span = FrontMatterSpan(plain.utf8.span), span.syntax == .yaml {
            var kept: [String] = []
            for line in lines[1..<(span.lineCount - 1)] {
                guard let field = Self.field(line) else {
                    kept.append(line)
                    continue
                }
                guard take(field, arrival, timeZone) else { throw Self.complaint(field) }
            }
            let isEmpty = kept.allSatisfy { $0.trimmingCharacters(in: .whitespaces).isEmpty }
            lines.replaceSubrange(0..<span.lineCount, with: isEmpty ? [] : ["---"] + kept + ["---"])
        } else {
            while let field = lines.first.flatMap(Self.field), take(field, arrival, timeZone) { lines.removeFirst() }
        }
        body = lines.joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private typealias Field = (name: String, value: String)

    /// - Returns: false where the value means nothing, or the field has been given before.
    private mutating func take(_ field: Field, _ arrival: Date, _ timeZone: TimeZone) -> Bool {
        if field.name == "time" {
            guard time == nil, let found = CaptureTime.parse(field.value, arrival: arrival, timeZone) else {
                return false
            }
            time = found
        } else {
            guard moment == nil, let found = CaptureTime.moment(field.value) else { return false }
            moment = found
        }
        return true
    }

    private static func lines(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" }.map(String.init)
    }

    private static func field(_ line: String) -> Field? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let name = line[..<colon].lowercased()
        guard name == "time" || name == "moment" else { return nil }
        var value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        for quote in ["\"", "'"] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
            value = String(value.dropFirst().dropLast())
        }
        return (name, value)
    }

    private static func complaint(_ field: Field) -> Fault {
        let wanted =
            field.name == "time"
            ? "ISO 8601, `YYYY-MM-DD HH:MM` or `HH:MM`, once" : "`now`, `today` or `this week`, once"
        let shown = BytePath.escape(Array(field.value.utf8.prefix(80)))
        return Fault(.refused, "the front matter has `\(field.name): \(shown)`; wanted is \(wanted)")
    }
}
