import Synchronization
import _FoundationICU

/// A regular expression of a style: .NET's syntax, as Vale reads it, in ICU's, with a step limit.
///
/// ICU is called directly: with a limit, Foundation's class also reports each position of the text, which takes longer
/// than most searches.
struct StylePattern: Sendable {
    /// The steps that a rule may take in a draft. A pattern from somebody else may be exponential.
    ///
    /// Each search adds steps in proportion to its text, so that all of a rule's searches together are linear.
    struct Budget {
        fileprivate var steps = 2_000_000
        /// The UTF-16 units that were examined so far.
        private(set) var work = 0

        var isSpent: Bool { steps <= 0 }

        mutating func examine(_ units: Int) { work += units }
    }

    private let matcher: Matcher
    /// An upper bound of the branches that a search tries at a position.
    private let branches: Int
    var groupCount: Int { matcher.groupCount }

    /// nil for an invalid pattern.
    init?(_ pattern: String) {
        var translation = PatternTranslation(pattern)
        guard let translated = translation.text() else { return nil }
        self.init(translated: translated)
    }

    /// - Parameter pattern: in ICU's syntax.
    init?(translated pattern: String) {
        guard let matcher = Matcher(pattern) else { return nil }
        self.matcher = matcher
        branches = 1 + pattern.utf8.count { $0 == UInt8(ascii: "|") }
    }

    /// One match: its range and those of its groups, in UTF-16; nil for groups that took no part.
    typealias Match = [Range<Int>?]

    /// All matches that begin within the budget; `most` limits their number.
    func matches(in text: [UInt16], _ budget: inout Budget, from start: Int = 0, most: Int = .max) -> [Match] {
        let (end, perUnit) = (text.count, 100 + 2 * branches)
        budget.steps += (end - start) * perUnit
        let found = matcher.matches(in: text, from: start, most: most, &budget.steps)
        let last = found.count == most ? found.last?[0]?.upperBound ?? end : end
        budget.steps -= (end - last) * perUnit
        budget.examine(last - start)
        return found
    }

    func isFound(in text: String, _ budget: inout Budget) -> Bool {
        !matches(in: Array(text.utf16), &budget, most: 1).isEmpty
    }

    /// The match that begins at `start`.
    func match(in text: [UInt16], at start: Int, _ budget: inout Budget) -> Match? {
        budget.steps += 100 + 2 * branches
        return matcher.match(in: text, at: start, &budget.steps)
    }

    /// The text with all matches replaced; `$1` and `${1}` stand for a group.
    func replacing(in text: String, with template: String, _ budget: inout Budget) -> String? {
        let units = Array(text.utf16)
        let found = matches(in: units, &budget)
        guard !budget.isSpent else { return nil }
        var result = ""
        var end = 0
        for match in found {
            guard let range = match[0] else { continue }
            result += String(decoding: units[end..<range.lowerBound], as: UTF16.self)
            result += Self.filled(template, match, units)
            end = range.upperBound
        }
        return result + String(decoding: units[end...], as: UTF16.self)
    }

    private static func filled(_ template: String, _ match: Match, _ units: [UInt16]) -> String {
        template.replacing(#/\$(?:(?<digits>\d+)|\{(?<braced>\d+)\})/#) { reference in
            let number = (reference.output.digits ?? reference.output.braced).flatMap { Int($0) } ?? 0
            guard match.indices.contains(number), let range = match[number] else { return "" }
            return String(decoding: units[range], as: UTF16.self)
        }
    }
}

/// ICU's matcher, which serves one search at a time.
private final class Matcher: Sendable {
    let groupCount: Int
    /// Used under ``turn`` only.
    private nonisolated(unsafe) let expression: OpaquePointer
    private let turn = Mutex(())

    /// ICU's steps between two calls of ``report(_:_:)``.
    private static let interval = 10_000

    init?(_ pattern: String) {
        let units = Array(pattern.utf16)
        var status = U_ZERO_ERROR
        guard let expression = swift_uregex_open(units, Int32(clamping: units.count), 0, nil, &status) else {
            return nil
        }
        self.expression = expression
        groupCount = Int(swift_uregex_groupCount(expression, &status))
    }

    deinit { swift_uregex_close(expression) }

    func matches(in text: [UInt16], from start: Int, most: Int, _ steps: inout Int) -> [StylePattern.Match] {
        var matches: [StylePattern.Match] = []
        search(text, &steps) { status in
            guard most > 0, swift_uregex_find(expression, Int32(clamping: start), &status) != 0 else { return }
            repeat {
                matches.append(match(&status))
            } while matches.count < most && swift_uregex_findNext(expression, &status) != 0
        }
        return matches
    }

    func match(in text: [UInt16], at start: Int, _ steps: inout Int) -> StylePattern.Match? {
        var found: StylePattern.Match?
        search(text, &steps) { status in
            if swift_uregex_lookingAt(expression, Int32(clamping: start), &status) != 0 { found = match(&status) }
        }
        return found
    }

    private func match(_ status: inout UErrorCode) -> StylePattern.Match {
        (0...groupCount).map { group in
            let start = swift_uregex_start(expression, Int32(group), &status)
            let end = swift_uregex_end(expression, Int32(group), &status)
            return start >= 0 && end >= start ? Int(start)..<Int(end) : nil
        }
    }

    /// - Parameter steps: what is left; 0 after a search that was stopped, or failed for want of memory.
    private func search(_ text: [UInt16], _ steps: inout Int, _ body: (inout UErrorCode) -> Void) {
        guard steps > 0, !text.isEmpty else { return }
        let allowed = 1 + steps / Self.interval
        var left = allowed
        var status = U_ZERO_ERROR
        turn.withLock { _ in
            withUnsafeMutablePointer(to: &left) { left in
                text.withUnsafeBufferPointer { text in
                    swift_uregex_setMatchCallback(expression, report, left, &status)
                    swift_uregex_setText(expression, text.baseAddress, Int32(clamping: text.count), &status)
                    body(&status)
                }
            }
        }
        steps = status.rawValue > U_ZERO_ERROR.rawValue ? 0 : steps - (allowed - left) * Self.interval
    }
}

/// Counts down, and stops the search at 0. ICU calls it every ``Matcher/interval`` steps.
private func report(_ context: UnsafeRawPointer?, _ steps: Int32) -> UBool {
    guard let left = UnsafeMutableRawPointer(mutating: context)?.assumingMemoryBound(to: Int.self) else { return 0 }
    left.pointee -= 1
    return left.pointee > 0 ? 1 : 0
}
