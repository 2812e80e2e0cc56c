import Foundation
import Platform

/// A regular expression with a step limit, so that no search runs forever.
struct TextPattern: Sendable {
    enum Answer {
        /// The first match, and the values of its named groups.
        case found(String, Values)
        case none
        case gaveUp
    }

    let text: String
    private let expression: NSRegularExpression
    /// The pattern in NFC.
    private let composed: NSRegularExpression
    private let groups: [String]

    /// The engine reports at each character where it has looked for a match in vain, and about every 10,000 steps: so
    /// many reports of the second kind.
    private static let reports = 500

    /// nil for an invalid pattern.
    ///
    /// - Parameter isMultiline: whether `^` and `$` match at each line, not only at the ends of the text.
    init?(_ text: String, isMultiline: Bool = true) {
        let options: NSRegularExpression.Options = isMultiline ? [.anchorsMatchLines] : []
        guard let expression = try? NSRegularExpression(pattern: text, options: options),
            let composed = try? NSRegularExpression(pattern: text.composed, options: options)
        else { return nil }
        self.text = text
        (self.expression, self.composed) = (expression, composed)
        groups = text.matches(of: #/\(\?<(?<name>[A-Za-z][A-Za-z0-9]*)>/#).map { String($0.output.name) }
    }

    /// The values that a match provides: `match.number` for the group `(?<number>…)`.
    var provides: [ValueSpec] {
        groups.map { ValueSpec("match.\($0)", "What the group `\($0)` of the pattern has taken.") }
    }

    /// Searches the text as it is, so that groups take what is written there. If that finds nothing, searches it in NFC.
    func firstMatch(in text: String) -> Answer {
        let answer = firstMatch(of: expression, in: text)
        guard case .none = answer, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return answer }
        return firstMatch(of: composed, in: text.composed)
    }

    private func firstMatch(of expression: NSRegularExpression, in text: String) -> Answer {
        var answer = Answer.none
        var reports = 0
        let whole = NSRange(text.startIndex..., in: text)
        expression.enumerateMatches(in: text, options: .reportProgress, range: whole) { match, flags, stop in
            if let match {
                answer = .found(
                    Range(match.range, in: text).map { String(text[$0]) } ?? "", values(of: match, in: text))
                stop.pointee = true
            } else if flags.contains(.progress) {
                reports += 1
                if reports > whole.length + Self.reports {
                    answer = .gaveUp
                    stop.pointee = true
                }
            }
        }
        return answer
    }

    private func values(of match: NSTextCheckingResult, in text: String) -> Values {
        var values: Values = [:]
        for group in groups {
            guard let range = Range(match.range(withName: group), in: text) else { continue }
            values["match.\(group)"] = .text(String(text[range]))
        }
        return values
    }
}
