import TKCore

/// The findings of earlier rounds, for matching with new suggestions.
struct KnownFindings {
    private let findings: [ReviewFinding]
    /// Indices by suggestion id.
    let places: [String: Int]

    init(_ findings: [ReviewFinding]) {
        self.findings = findings
        var places: [String: Int] = [:]
        for (index, finding) in findings.enumerated() { places[finding.suggestion.id] = index }
        self.places = places
    }

    /// Indices by id of suggestions that were answered together with an equivalent finding.
    func answeredAlong() -> [String: Int] {
        var answered: [String: Int] = [:]
        for (index, finding) in findings.enumerated() where !finding.others.isEmpty {
            let isAnswered = finding.state == .skipped || finding.state == .accepted && finding.proposal == nil
            guard isAnswered else { continue }
            for other in finding.others where places[other.id] == nil { answered[other.id] = index }
        }
        return answered
    }

    /// The skipped finding that proposed the same for the same words.
    func skipped(_ entry: MergedSuggestion) -> Int? {
        for other in entry.others where other.hasReplacement && entry.suggestion.hasReplacement {
            guard let index = places[other.id], findings[index].state == .skipped,
                other.anchor.range == entry.suggestion.anchor.range,
                other.suggestedText == entry.suggestion.suggestedText
            else { continue }
            return index
        }
        return nil
    }

    /// Matches suggestions whose id changed only with the surrounding words: the known finding at the same range, by
    /// new id. An answer thus survives edits beside its words.
    ///
    /// - Parameter resolver: finds them in the present text.
    func moved(_ suggestions: [Suggestion], by resolver: AnchorResolver) -> [String: Int] {
        let strangers = suggestions.filter { places[$0.id] == nil }
        guard !strangers.isEmpty else { return [:] }
        let ids = Set(suggestions.map(\.id))
        var byPlace: [Place: Int] = [:]
        for (index, finding) in findings.enumerated() where !ids.contains(finding.suggestion.id) {
            // Its words have been replaced in the draft.
            if finding.state == .accepted, finding.proposal != nil { continue }
            guard let range = resolver.certainRange(of: finding.suggestion.anchor) else { continue }
            byPlace[Place(finding.suggestion, range)] = index
        }
        var moved: [String: Int] = [:]
        for suggestion in strangers { moved[suggestion.id] = byPlace[Place(suggestion, suggestion.anchor.range)] }
        return moved
    }

    private struct Place: Hashable {
        let maker: String
        let range: Range<Int>

        init(_ suggestion: Suggestion, _ range: Range<Int>) {
            // Another reviewer may say several things about the same words.
            let words = suggestion.hasReplacement ? suggestion.suggestedText : suggestion.reasoning
            maker = suggestion.rule ?? suggestion.advisorID + (suggestion.origin == nil ? "" : "\u{0}" + words)
            self.range = range
        }
    }

    /// The shortest unused prefix of the id, with at least four digits.
    static func key(for id: String, among used: Set<String>) -> String {
        for length in stride(from: min(4, id.count), to: id.count, by: 1) {
            let key = String(id.prefix(length))
            if !used.contains(key) { return key }
        }
        return id
    }
}
