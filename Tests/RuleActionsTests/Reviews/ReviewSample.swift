import NoteActions
import Platform
import TKCore

/// A draft of two findings, and its review with the first accepted and the second skipped.
enum ReviewSample {
    static let draft = "We met in order to talk.\n\nWe stayed due to the fact that it rained.\n"
    static let accepted = "We met to talk.\n\nWe stayed due to the fact that it rained.\n"

    /// The state as the action leaves it, and the sidecar after a person's answers.
    static let reviewed: (state: String, ticked: String)? = {
        guard let pass = try? QuickPass() else { return nil }
        let round = ReviewRound(
            of: DraftText(draft), known: ReviewState(draft: "Idea 1.md"), sidecar: nil, settings: ReviewSettings(),
            mayWrite: true
        ) { pass.suggestions(for: $0, settings: .init(ignoredRules: $1)) }
        var state = round.state
        let text = ReviewSidecar.text(state)
        state.rendered = ContentHash(of: Array(text.utf8))
        guard let json = try? state.json() else { return nil }
        return (json, answer(text, ["x", "-"]))
    }()

    /// The sidecar with its blocks' marks changed, in order.
    static func answer(_ sidecar: String, _ marks: [String]) -> String {
        var marks = marks[...]
        return sidecar.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("- ["), let mark = marks.popFirst() else { return String(line) }
            return "- [\(mark)]" + line.dropFirst(5)
        }.joined(separator: "\n")
    }
}
