import Platform
import Synchronization
import TKCore

/// Shows a draft's findings on a terminal as they arrive. Equivalent ones are shown once: the first that came.
final class FindingStream: Sendable {
    private struct State {
        var found: [Suggestion] = []
        var shown: Set<Shown> = []
        var hasBegun = false
    }

    /// A finding, whatever its id: that may still change.
    private struct Shown: Hashable {
        let maker: String
        let range: Range<Int>
        let words: String
        let reason: String

        init(_ suggestion: Suggestion) {
            maker = suggestion.rule ?? suggestion.advisorID
            (range, words) = (suggestion.anchor.range, suggestion.suggestedText)
            reason = suggestion.reasoning
        }
    }

    private let draft: Draft
    private let formatter: TextFormatter
    private let filter: SuggestionFilter
    private let state = Mutex(State())

    init(_ draft: Draft, _ formatter: TextFormatter, _ filter: SuggestionFilter) {
        (self.draft, self.formatter, self.filter) = (draft, formatter, filter)
    }

    /// For ``Reviewing/review(_:arrived:)``.
    var sink: @Sendable ([Suggestion]) -> Void { { self.show($0) } }

    func show(_ findings: [Suggestion]) {
        state.withLock { state in
            state.found += findings
            var dropped = DroppedFindings()
            let merged = SuggestionMerger.merge(state.found, of: draft.content)
            let reviewed = ReviewedDraft(
                name: draft.name, draft: draft.content, suggestions: filter.apply(merged, dropped: &dropped))
            write(reviewed, &state)
        }
    }

    /// - Parameter reviewed: with everything that was found.
    func finish(_ reviewed: ReviewedDraft) {
        state.withLock { state in
            guard state.hasBegun else { return Terminal.write(formatter.piece(reviewed)) }
            write(reviewed, &state)
            Terminal.write(formatter.closing(reviewed))
        }
    }

    private func write(_ reviewed: ReviewedDraft, _ state: inout State) {
        let new = reviewed.suggestions.filter { entry in
            !([entry.suggestion] + entry.others).contains { state.shown.contains(Shown($0)) }
        }
        for entry in reviewed.suggestions {
            state.shown.formUnion(([entry.suggestion] + entry.others).map(Shown.init))
        }
        guard !new.isEmpty else { return }
        var lines = state.hasBegun ? [] : [formatter.opening(reviewed.name)]
        state.hasBegun = true
        for entry in new { lines += formatter.block(entry, reviewed) }
        Terminal.write(lines.joined(separator: "\n") + "\n")
    }
}
