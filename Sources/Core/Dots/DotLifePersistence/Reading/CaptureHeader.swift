import DotLifeDomain
import Foundation
import Platform

/// The fields at the top of a dropped text, and the text without them.
///
/// `time:`, `moment:` and `kind:` are read from front matter (docs/design/front-matter.md), or from the very first
/// lines. Other front matter stays in the text.
struct CaptureHeader {
    var time: Date?
    var moment: MomentType?
    var kind: ExperienceType?
    var body: String

    /// - Throws: `Fault(.refused)` if front matter has an invalid time, moment or kind. An invalid first line without
    ///   front matter is an ordinary sentence, and stays.
    init(_ text: String, arrival: Date, timeZone: Zone) throws {
        let plain = Self.withLineFeeds(text)
        var lines = Self.lines(plain)
        body = ""
        if let span = FrontMatterSpan(plain.utf8.span), span.syntax == .yaml {
            var kept: [String] = []
            for line in lines[1..<(span.lineCount - 1)] {
                guard let field = Self.field(line) else {
                    kept.append(line)
                    continue
                }
                guard apply(field, arrival, timeZone) else { throw Self.complaint(field) }
            }
            let isEmpty = kept.allSatisfy { $0.trimmingCharacters(in: .whitespaces).isEmpty }
            lines.replaceSubrange(0..<span.lineCount, with: isEmpty ? [] : ["---"] + kept + ["---"])
        } else {
            while let field = lines.first.flatMap(Self.field), apply(field, arrival, timeZone) { lines.removeFirst() }
        }
        body = lines.joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private typealias Field = (name: String, value: String)

    /// - Returns: false if the value is invalid, or the field has been given before.
    private mutating func apply(_ field: Field, _ arrival: Date, _ timeZone: Zone) -> Bool {
        switch field.name {
        case "time":
            guard time == nil, let found = CaptureTime.parse(field.value, arrival: arrival, timeZone) else {
                return false
            }
            time = found
        case "kind":
            guard kind == nil, let found = CaptureTime.kind(field.value) else { return false }
            kind = found
        default:
            guard moment == nil, let found = CaptureTime.moment(field.value) else { return false }
            moment = found
        }
        return true
    }

    /// Converts all line ends to LF: to Swift, CR LF is one character, different from LF. CR CR LF, from a text
    /// converted twice, is one line end too; a lone CR is another.
    private static func withLineFeeds(_ text: String) -> String {
        var (bytes, returns): ([UInt8], Int) = ([], 0)
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\r") {
                returns += 1
                continue
            }
            if byte != UInt8(ascii: "\n") { bytes += repeatElement(UInt8(ascii: "\n"), count: returns) }
            returns = 0
            bytes.append(byte)
        }
        return String(decoding: bytes + repeatElement(UInt8(ascii: "\n"), count: returns), as: UTF8.self)
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func field(_ line: String) -> Field? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let name = line[..<colon].lowercased()
        guard wanted[name] != nil else { return nil }
        var value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        for quote in ["\"", "'"] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
            value = String(value.dropFirst().dropLast())
        }
        return (name, value)
    }

    /// The valid values of each field.
    static let wanted = [
        "time": "ISO 8601, `YYYY-MM-DD HH:MM` or `HH:MM`", "moment": "`now`, `today` or `this week`",
        "kind": "`note`, `link`, `photo` or `dot`",
    ]

    private static func complaint(_ field: Field) -> Fault {
        let shown = BytePath.escape(Array(field.value.utf8.prefix(80)))
        return Fault(
            .refused,
            "the front matter has `\(field.name): \(shown)`; wanted is \(wanted[field.name] ?? "another"), once")
    }
}
