import TKCore

/// The findings of earlier rounds, and which of them a suggestion is.
struct KnownFindings {
    private let findings: [ReviewFinding]
    /// By the ids of their suggestions, where they stand.
    let places: [String: Int]

    init(_ findings: [ReviewFinding]) {
        self.findings = findings
        var places: [String: Int] = [:]
        for (index, finding) in findings.enumerated() { places[finding.suggestion.id] = index }
        self.places = places
    }

    /// By their ids, what was answered along with a finding that it came to the same as.
    func answeredAlong() -> [String: Int] {
        var answered: [String: Int] = [:]
        for (index, finding) in findings.enumerated() where !finding.others.isEmpty {
            let isAnswered = finding.state == .skipped || finding.state == .accepted && finding.proposal == nil
            guard isAnswered else { continue }
            for other in finding.others where places[other.id] == nil { answered[other.id] = index }
        }
        return answered
    }

    /// The finding that proposed the same for the same words, and was skipped.
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

    /// Findings that have another id only because the words around them have changed: by the new id, which of the known
    /// ones stands in the same place. So an answer outlives changes beside what it was about.
    func moved(
        _ suggestions: [Suggestion], in draft: DraftText, previous: DraftText?
    ) -> [String: Int] {
        let strangers = suggestions.filter { places[$0.id] == nil }
        guard !strangers.isEmpty else { return [:] }
        let ids = Set(suggestions.map(\.id))
        let resolver = AnchorResolver(draft, previous: previous)
        var byPlace: [Place: Int] = [:]
        for (index, finding) in findings.enumerated() where !ids.contains(finding.suggestion.id) {
            // What was put into the draft is not there any more.
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
            maker = suggestion.rule ?? suggestion.advisorID
            self.range = range
        }
    }

    /// The shortest beginning of the id that names no other finding, four digits at least.
    static func key(for id: String, among used: Set<String>) -> String {
        for length in stride(from: min(4, id.count), to: id.count, by: 1) {
            let key = String(id.prefix(length))
            if !used.contains(key) { return key }
        }
        return id
    }
}
