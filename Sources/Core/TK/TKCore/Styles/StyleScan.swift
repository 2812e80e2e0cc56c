import Foundation

/// Runs rules over a draft's units.
struct StyleScan {
    struct Finding {
        var rule: StyleRule
        /// In the draft.
        var range: Range<Int>
        /// In the unit's text.
        var inUnit: Range<Int>
        var message: String
        /// To put in place of the range; nil for a remark.
        var proposal: String?
        /// Whether it is about the author's words; others are about the source, a quotation or a table.
        var isProse: Bool
    }

    private let spelling: StyleSpelling?
    /// Of ``units``, each once.
    private let kinds: [Set<String>]
    private let units: [(unit: StyleUnit, kind: Int)]
    private(set) var findings: [Finding] = []
    /// Of an earlier version; nil if there is none, or if other rules have read it.
    private let earlier: StyleReading?
    /// Of this version; nil if nobody wants it.
    private(set) var reading: StyleReading?

    /// - Parameters:
    ///   - units: by position, those of each scope.
    ///   - ending: of the draft's name, which a scope may ask for.
    ///   - circumstances: nil to remember nothing.
    init(
        _ units: [StyleUnit], ending: String?, spelling: StyleSpelling?,
        circumstances: StyleReading.Circumstances? = nil, earlier: StyleReading? = nil
    ) {
        self.spelling = spelling
        self.earlier = earlier?.circumstances == circumstances ? earlier : nil
        reading = circumstances.map { StyleReading(circumstances: $0) }
        var numbers: [Set<String>: Int] = [:]
        self.units = units.map { unit in
            let number = numbers[unit.sections, default: numbers.count]
            numbers[unit.sections] = number
            return (unit, number)
        }
        kinds = numbers.sorted { $0.value < $1.value }.map { $0.key.union(ending.map { [$0] } ?? []) }
    }

    /// Runs rules, unit by unit: a unit is read by all of them while it is in the processor's cache, however long the
    /// draft is.
    ///
    /// - Returns: those that ran out of their budgets, whose last findings are missing, and the work of all.
    mutating func run(_ rules: [StyleRule]) -> (unfinished: [StyleRule], steps: Int) {
        var runs = rules.map { Run(rule: $0) }
        let chosen = kinds.map { sections in
            rules.indices.filter { index in rules[index].scopes.contains { $0.selects(sections) } }
        }
        let isLocal = rules.map(\.isLocal)
        let others = chosen.map { $0.filter { !isLocal[$0] } }
        for (unit, kind) in units {
            let name = reading.flatMap { _ in StyleReading.Unit(unit) }
            let known = name.flatMap { earlier?.findings[$0] }
            let before = findings.count
            findings += known?.map { $0.moved(to: unit) } ?? []
            for index in (known == nil ? chosen : others)[kind] where !runs[index].isOver { run(&runs[index], unit) }
            if let name { reading?.findings[name] = known ?? findings[before...].filter(\.rule.isLocal) }
        }
        return (runs.filter(\.budget.isSpent).map(\.rule), runs.reduce(0) { $0 + $1.budget.work })
    }

    private mutating func run(_ run: inout Run, _ unit: StyleUnit) {
        let before = findings.count
        check(run.rule, unit, &run.memory, &run.budget)
        run.count += findings.count - before
        guard !run.budget.isSpent, let limit = run.rule.limit, run.count >= limit else { return }
        findings.removeLast(run.count - limit)
        run.isComplete = true
    }

    /// A rule on its way through the draft.
    private struct Run {
        let rule: StyleRule
        var budget = StylePattern.Budget()
        var memory = Memory()
        var count = 0
        /// Whether it has as many findings as it may have.
        var isComplete = false

        var isOver: Bool { isComplete || budget.isSpent }
    }

    /// What a rule has seen in the draft so far.
    private struct Memory {
        /// Of `conditional`: the defined names.
        var defined: Set<String> = []
        /// Of `consistency`: the variant that was first, by pattern. The whole draft counts, as in Vale.
        var variants: [Int: Int] = [:]
    }

    private mutating func check(
        _ rule: StyleRule, _ unit: StyleUnit, _ memory: inout Memory, _ budget: inout StylePattern.Budget
    ) {
        switch rule.check {
        case .existence(let patterns):
            for match in patterns.matches(in: unit, &budget) { add(rule, unit, unit.scalarRange(match.range), &budget) }
        case .substitution(let patterns, let replacements, let capitalizes):
            for match in patterns.matches(in: unit, &budget) where !match.range.isEmpty {
                substitute(
                    rule, unit, unit.scalarRange(match.range), replacements[match.index], capitalizes: capitalizes,
                    &budget)
            }
        case .occurrence(let pattern, let most, let least):
            let found = pattern.matches(in: unit.units, &budget).compactMap { $0[0] }.map(unit.scalarRange)
            guard most.map({ found.count > $0 }) ?? false || least.map({ found.count < $0 }) ?? false else { return }
            // Code is no text, although it counts.
            let words = found.first { range in unit.scalars[range].contains { !"*@ \n".unicodeScalars.contains($0) } }
            guard let start = found.isEmpty ? 0 : words?.lowerBound else { return }
            report(rule, unit, start..<(found.last?.upperBound ?? unit.scalars.count), ["\(found.count)"], nil)
        case .repetition(let pattern, let most, let onlyLetters):
            repetitions(rule, unit, pattern, most, onlyLetters, &budget)
        case .consistency(let patterns):
            for (index, pattern) in patterns.enumerated() {
                for match in pattern.matches(in: unit.units, &budget) where match.count > 2 {
                    let variant = match[1] != nil ? 1 : 2
                    guard let range = match[variant] else { continue }
                    let first = memory.variants[index, default: variant]
                    memory.variants[index] = first
                    if first != variant { add(rule, unit, unit.scalarRange(range), &budget) }
                }
            }
        case .conditional(let first, let second):
            for match in second.matches(in: unit.units, &budget) {
                for range in match.dropFirst() {
                    if let range { memory.defined.insert(unit[unit.scalarRange(range)]) }
                }
            }
            for match in first.matches(in: unit.units, &budget) {
                guard let range = match[0].map(unit.scalarRange), !memory.defined.contains(unit[range]) else {
                    continue
                }
                add(rule, unit, range, &budget)
            }
        case .capitalization(let capitals):
            let text = unit.text
            guard let expected = capitals.expected(text, rule.exceptions, &budget), !budget.isSpent else { return }
            report(rule, unit, 0..<unit.scalars.count, [text, expected], nil)
        case .spelling(let filters, let known): spell(rule, unit, filters, known, &budget)
        }
    }

    /// Reports a range with the proposal of the rule's action, unless it is excepted.
    private mutating func add(
        _ rule: StyleRule, _ unit: StyleUnit, _ range: Range<Int>, _ budget: inout StylePattern.Budget
    ) {
        let words = unit[range]
        if rule.exceptions?.isFound(in: Self.trimmed(words), &budget) ?? false { return }
        let proposal = rule.action?.proposal(for: words, &budget)
        report(rule, unit, range, [words, proposal ?? words], proposal)
    }

    private mutating func substitute(
        _ rule: StyleRule, _ unit: StyleUnit, _ range: Range<Int>, _ replacement: StyleRule.Replacement,
        capitalizes: Bool, _ budget: inout StylePattern.Budget
    ) {
        let words = unit[range]
        let observed = Self.trimmed(words)
        var text = replacement.text
        if let pattern = replacement.pattern { text = pattern.replacing(in: observed, with: text, &budget) ?? text }
        var choices = text.split(separator: "|").map(String.init)
        if capitalizes, observed.first?.isUppercase ?? false {
            choices = choices.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        }
        guard !choices.contains(observed) else { return }
        if rule.exceptions?.isFound(in: observed, &budget) ?? false { return }
        var proposal = choices.first.map { rule.ignoresCase ? Self.capitalised($0, like: observed) : $0 }
        var isQuoted = choices.count > 1
        switch rule.action?.kind {
        case .replace?: isQuoted = true
        case .edit?: proposal = rule.action?.proposal(for: words, &budget)
        default: break
        }
        guard proposal != observed else { return }
        let wanted = isQuoted ? Self.alternatives(choices) : choices.first ?? text
        // The quotation marks around alternatives are their own.
        let message = isQuoted ? Self.unquoted(rule.message) : rule.message
        report(rule, unit, range, [wanted, observed], proposal, message: message)
    }

    private mutating func repetitions(
        _ rule: StyleRule, _ unit: StyleUnit, _ pattern: StylePattern, _ most: Int, _ onlyLetters: Bool,
        _ budget: inout StylePattern.Budget
    ) {
        var previous: (words: String, range: Range<Int>)?
        var count = 0
        for match in pattern.matches(in: unit.units, &budget) {
            guard let range = match[0].map(unit.scalarRange), !range.isEmpty else { continue }
            let words = Self.trimmed(unit[range])
            defer { previous = (words, range) }
            guard let last = previous, !words.isEmpty,
                rule.ignoresCase ? last.words.lowercased() == words.lowercased() : last.words == words,
                !onlyLetters || words.allSatisfy(\.isLetter)
            else {
                count = 0
                continue
            }
            count += 1
            guard count > most, !(rule.exceptions?.isFound(in: words, &budget) ?? false) else { continue }
            let isSlip = most == 0 && onlyLetters
            report(rule, unit, last.range.lowerBound..<range.upperBound, [words], isSlip ? last.words : nil)
            count = 0
        }
    }

    private mutating func spell(
        _ rule: StyleRule, _ unit: StyleUnit, _ filters: [StylePattern], _ known: Set<String>,
        _ budget: inout StylePattern.Budget
    ) {
        guard let spelling else { return }
        var start = 0
        while start < unit.scalars.count {
            guard ProseTokens.isLetter(unit.scalars[start]) else {
                start += 1
                continue
            }
            var end = start
            while end < unit.scalars.count, Self.isInWord(unit.scalars, end) { end += 1 }
            let word = unit[start..<end]
            let isKnown =
                known.contains(word.lowercased()) || spelling.isCorrect(word)
                || rule.exceptions?.isFound(in: word, &budget) ?? false
                || filters.contains { $0.isFound(in: word, &budget) }
            if !isKnown { report(rule, unit, start..<end, [word], spelling.proposal(for: word)) }
            start = end
        }
    }

    private static func isInWord(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        // With digits it is an identifier, which the filters know.
        if ProseTokens.isLetter(scalars[index]) || "_0123456789".unicodeScalars.contains(scalars[index])
            || scalars[index].properties.generalCategory == .nonspacingMark
        {
            return true
        }
        guard scalars[index] == "'" || scalars[index] == "\u{2019}", index > 0, index + 1 < scalars.count else {
            return false
        }
        return ProseTokens.isLetter(scalars[index - 1]) && ProseTokens.isLetter(scalars[index + 1])
    }

    /// - Parameter words: for the `%s` of the message, in order.
    private mutating func report(
        _ rule: StyleRule, _ unit: StyleUnit, _ found: Range<Int>, _ words: [String], _ proposal: String?,
        message: String? = nil
    ) {
        guard var range = Self.withoutEdges(found, unit) else { return }
        var proposal = proposal
        if proposal == "" {
            // A blank goes with the word, and the first word of a sentence stays.
            let isInside =
                range.lowerBound >= 2 && unit.scalars[range.lowerBound - 1] == " "
                && unit.scalars[range.lowerBound - 2].properties.isAlphabetic
            if isInside, range.upperBound < unit.scalars.count, unit.scalars[range.upperBound] == " " {
                range = range.lowerBound..<range.upperBound + 1
            } else if isInside {
                range = range.lowerBound - 1..<range.upperBound
            } else {
                proposal = nil
            }
        } else if range != found {
            // The blanks around the words stay.
            proposal = proposal.map(Self.trimmed)
            // Unless the change is about them.
            if proposal == unit[range] {
                proposal = nil
                range = found
            }
        }
        findings.append(
            Finding(
                rule: rule, range: unit.place(range), inUnit: range,
                message: Self.filled(message ?? rule.message, words),
                proposal: proposal, isProse: unit.isProse))
    }

    /// Without white space at its ends; as it is if it holds nothing else, and nil if it is empty.
    private static func withoutEdges(_ range: Range<Int>, _ unit: StyleUnit) -> Range<Int>? {
        guard !range.isEmpty else { return nil }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, ProseTokens.isSpace(unit.scalars[start]) { start += 1 }
        while end > start, ProseTokens.isSpace(unit.scalars[end - 1]) { end -= 1 }
        return start < end ? start..<end : range
    }

    /// A message with words for `%s` and `%[1]s`, on one line.
    static func filled(_ message: String, _ words: [String]) -> String {
        var number = 0
        let text = message.replacing(#/%(?:\[(?<number>\d)\])?(?<kind>[s%])/#) { place in
            if place.output.kind == "%" { return "%" }
            let index = place.output.number.flatMap { Int($0) }.map { $0 - 1 } ?? number
            number = index + 1
            return words.indices.contains(index) ? words[index] : words.last ?? ""
        }
        return text.replacing(#/[ \n\r\t]+/#, with: " ")
    }

    /// Without quotation marks around its first word.
    private static func unquoted(_ message: String) -> String {
        for quoted in ["'%s'", "\"%s\""] {
            guard let range = message.firstRange(of: quoted), !message[..<range.lowerBound].contains("%s") else {
                continue
            }
            return message.replacing(quoted, with: "%s", maxReplacements: 1)
        }
        return message
    }

    private static func trimmed(_ text: String) -> String {
        text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// `'a', 'b', or 'c'`.
    private static func alternatives(_ words: [String]) -> String {
        let quoted = words.map { "'\($0)'" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
        return quoted.dropLast().joined(separator: ", ") + (quoted.count > 2 ? ", or " : " or ") + last
    }

    private static func capitalised(_ replacement: String, like words: String) -> String {
        guard let first = words.first, first.isUppercase, replacement == replacement.lowercased() else {
            return replacement
        }
        return replacement.prefix(1).uppercased() + replacement.dropFirst()
    }
}
