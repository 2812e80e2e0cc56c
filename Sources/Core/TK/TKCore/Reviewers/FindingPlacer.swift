import Foundation
import Platform

/// Turns the findings of other reviewers into suggestions about a draft, like a model's (`FindingResolver`): by their
/// quotes and the text around these, and through the same gate. A position counts only where the quoted words are.
package struct FindingPlacer: Sendable {
    private let draft: DraftText
    private let name: BytePath?
    private let mask: DraftMask
    private let gate: ProposalGate
    private let resolver: AnchorResolver
    private let endings: LineEndings

    /// - Parameter name: the draft's path; findings about other files are not placed. nil places all.
    package init(_ draft: DraftText, name: BytePath? = nil) {
        self.draft = draft
        self.name = name
        mask = DraftMask(draft)
        gate = ProposalGate(draft, mask: mask)
        resolver = AnchorResolver(draft)
        endings = LineEndings(draft.scalars)
    }

    /// Those with a place, each once, and the rest. A proposal that would change more than words becomes a remark.
    ///
    /// - Parameter author: of all of them; nil for the one that each names, else `other`.
    package func place(
        _ findings: [ReportedFinding], author: String? = nil, origin: Suggestion.Origin
    ) -> (placed: [Suggestion], unplaced: [UnplacedFinding]) {
        var placed: [Suggestion] = []
        var unplaced: [UnplacedFinding] = []
        var seen: Set<String> = []
        for finding in findings {
            switch range(of: finding) {
            case .failure(let problem):
                unplaced.append(UnplacedFinding(finding, problem.reason, isElsewhere: problem.isElsewhere))
            case .success(let range):
                let suggestion = suggestion(finding, range, author ?? finding.author ?? Self.anonymous, origin)
                if seen.insert(suggestion.id).inserted { placed.append(suggestion) }
            }
        }
        return (placed, unplaced)
    }

    private static let anonymous = "other"
    private static let longestName = 64

    private struct Problem: Error {
        var reason: String
        var isElsewhere = false
        init(_ reason: String, isElsewhere: Bool = false) { (self.reason, self.isElsewhere) = (reason, isElsewhere) }
    }

    // MARK: Places

    private func range(of finding: ReportedFinding) -> Result<Range<Int>, Problem> {
        if let file = finding.file, !isDraft(file) {
            return .failure(Problem("it is about \(Printable.line(file))", isElsewhere: true))
        }
        let found: Result<Range<Int>, Problem>
        if let quote = finding.quote, !quote.isEmpty {
            found = quoted(quote, finding)
        } else if let range = finding.range {
            found = .success(range.clamped(to: 0..<draft.count))
        } else {
            found = .failure(Problem(finding.place.map { "the draft has no place \($0)" } ?? "it names no place"))
        }
        return found.flatMap { told in
            let range = finding.replacement == nil ? withoutBlanks(told) : told
            let shown = draft.words(around: range)
            if draft.isBlank(shown) { return .failure(Problem("there are no words")) }
            if mask.isExempt(shown) { return .failure(Problem("the draft silences findings there")) }
            return .success(range)
        }
    }

    private func quoted(_ quote: String, _ finding: ReportedFinding) -> Result<Range<Int>, Problem> {
        if let range = finding.range, draft[range] == quote { return .success(range) }
        switch resolver.find(quote, prefix: finding.prefix, suffix: finding.suffix) {
        case .exact(let range), .normalised(let range): return .success(range)
        case .ambiguous(let places):
            // The position decides if it is at least on the line.
            if let told = finding.range.map({ draft.line(at: $0.lowerBound) }),
                case let near = places.filter({ draft.line(at: $0.lowerBound) == told }), near.count == 1
            {
                return .success(near[0])
            }
            return .failure(Problem("these words are in \(places.count) places"))
        case .unchanged, .mapped, .fuzzy, .orphan: return .failure(Problem("these words are not in the draft"))
        }
    }

    /// Whether a report's name for a file may mean the draft. Programs that read standard input or a descriptor have
    /// names of their own for it, and those in a container another root.
    private func isDraft(_ file: String) -> Bool {
        guard let name else { return true }
        let path = file.hasPrefix("file://") ? String(file.dropFirst(7)) : file
        let isStream =
            ["", "-", "<stdin>", "(stdin)", "stdin"].contains(path)
            || ["stdin.", "/dev/stdin", "/dev/fd/", "/proc/self/fd/"].contains(where: path.hasPrefix)
        if isStream { return true }
        let own = name.components
        return [path, path.removingPercentEncoding ?? path].contains { text in
            let path = BytePath(text)
            let parts = path.components.filter { !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
            let common = zip(parts.reversed(), own.reversed()).prefix { $0 == $1 }.count
            return common > 0 && common >= min(parts.count, path.isAbsolute ? 2 : .max)
        }
    }

    private func withoutBlanks(_ range: Range<Int>) -> Range<Int> {
        guard !draft.isBlank(range) else { return range }
        var (start, end) = (range.lowerBound, range.upperBound)
        while draft.scalars[start].properties.isWhitespace { start += 1 }
        while draft.scalars[end - 1].properties.isWhitespace { end -= 1 }
        return start..<end
    }

    // MARK: Suggestions

    private func suggestion(
        _ finding: ReportedFinding, _ told: Range<Int>, _ author: String, _ origin: Suggestion.Origin
    ) -> Suggestion {
        let told = finding.replacement == "" ? draft.withOneSpace(told) : told
        let range = draft.words(around: told)
        let quote = draft[range]
        // The shown words may be more than the replaced ones.
        var replacement = finding.replacement.map { words in
            endings.adapted(
                draft[range.lowerBound..<told.lowerBound] + FindingResolver.printable(words)
                    + draft[told.upperBound..<range.upperBound])
        }
        if replacement == quote { replacement = nil }
        let author = Self.name(author)
        let message = Self.message(finding)
        let anchor = draft.anchor(of: range)
        let maker = [author, finding.rule ?? "", replacement ?? message].joined(separator: "\u{0}")
        let type: SuggestionType =
            replacement.map { $0.isEmpty ? .remove : $0.contains(quote) ? .add : .rephrase } ?? .improve
        return gate.admitted(
            Suggestion(
                id: FindingIdentity.id(maker: maker, quote: quote, before: anchor.prefix, after: anchor.suffix),
                advisorID: author, type: type, category: finding.rule.map(Self.name) ?? "review",
                priority: min(max(finding.priority, 1), 5), confidence: 0.5, originalText: quote,
                suggestedText: replacement ?? "", hasReplacement: replacement != nil, reasoning: message,
                anchor: anchor, origin: origin))
    }

    /// In scalars. The rest of a longer message is left out: a sidecar has a limit, too.
    private static let longestMessage = 16_384

    /// What the reviewer says, with the name of its rule and its other wordings, in one line each.
    private static func message(_ finding: ReportedFinding) -> String {
        var told = finding.message.unicodeScalars[...]
        if told.count > longestMessage { told = told.prefix(longestMessage - 1) + "…".unicodeScalars }
        var text = FindingResolver.printable(String(told))
        if let rule = finding.rule.map(Printable.line), !rule.isEmpty, !text.contains(rule) {
            text += text.isEmpty ? rule : " (\(rule))"
        }
        if !finding.alternatives.isEmpty {
            text +=
                " Or: " + finding.alternatives.prefix(5).map { "“\(Printable.line($0))”" }.joined(separator: ", ")
                + "."
        }
        return text
    }

    /// A name in one line, of at most 64 characters.
    package static func name(_ text: String) -> String {
        let line = Printable.line(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.isEmpty ? anonymous : String(line.prefix(longestName))
    }
}
