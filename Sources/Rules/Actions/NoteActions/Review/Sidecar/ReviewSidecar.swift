import Platform
import Rules
import TKCore

/// The sidecar's text. Generated from the state alone, so that a person's changes can be detected.
package enum ReviewSidecar {
    /// The first line, which tells a sidecar from another file of such a name.
    package static func mark(_ draft: BytePath) -> String { SidecarMark.line(comment(draft)) }

    package static func text(_ state: ReviewState) -> String {
        let open = state.findings.filter { $0.state == .pending }
        let orphans = state.findings.filter { $0.state == .orphaned }
        var lines = [
            mark(state.draft), "# Review of \(inline(state.draft.nameText))", "",
        ]
        if let waiting = state.waiting { lines += [waiting.line(of: state.draft), ""] }
        lines += [
            state.unreadable.map(inline) ?? headline(open.count, orphans.count, state), "",
        ]
        if let header = SidecarHeader.line(state) { lines += [header, ""] }
        lines += [
            "To answer, change `[ ]` and save: `[x]` puts the proposed words into the draft, `[-]` skips the finding for "
                + "good, `[?]` asks for another proposal or, with words after it, a question. The words in a fence may be "
                + "changed before it is ticked; a finding without one is only noted."
        ]
        for notice in (state.reading?.troubles ?? []) + (state.reading?.notes ?? []) + state.notices {
            lines += ["", "> \(inline(notice))"]
        }
        let discussions = state.discussions.map { discussion in
            (discussion, open.filter { $0.all.contains { discussion.suggestions.contains($0.id) } })
        }.filter { $0.1.count > 1 }
        let discussed = Set(discussions.flatMap(\.1).map(\.key))
        for finding in open where !discussed.contains(finding.key) { lines += [""] + block(finding) }
        if !discussions.isEmpty { lines += ["", "## Discussions"] }
        for (discussion, findings) in discussions { lines += self.discussion(discussion, findings) }
        if !orphans.isEmpty {
            lines += [
                "", "## Not found in the draft any more", "",
                "These were accepted, but the words have changed or stand in several places: nothing was put there. "
                    + "Change the draft by hand, then skip them here.",
            ]
            for finding in orphans { lines += [""] + block(finding) }
        }
        if let council = state.council { lines += CouncilSection.lines(council, of: state) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// False for a text with the mark of another draft.
    static func isOf(_ draft: BytePath, _ text: String) -> Bool {
        !SidecarMark.begins(text.utf8) || text.drop { $0 == "\u{FEFF}" }.hasPrefix(mark(draft))
    }

    /// A sidecar's text after its draft was renamed.
    static func renamed(_ text: String, from old: BytePath, to new: BytePath) -> String {
        guard text.hasPrefix(mark(old)) else { return text }
        let rest = String(text.dropFirst(mark(old).count))
        let titles = [old, new].map { "\n# Review of \(inline($0.nameText))\n" }
        guard rest.hasPrefix(titles[0]) else { return mark(new) + rest }
        return mark(new) + titles[1] + rest.dropFirst(titles[0].count)
    }

    private static func headline(_ open: Int, _ orphans: Int, _ state: ReviewState) -> String {
        var parts = [open == 1 ? "1 finding" : open == 0 ? "No findings" : "\(open) findings"]
        if state.count(.accepted) > 0 { parts.append("\(state.count(.accepted)) accepted") }
        if state.count(.skipped) > 0 { parts.append("\(state.count(.skipped)) skipped") }
        if orphans > 0 { parts.append("\(orphans) not found in the draft any more") }
        return parts.joined(separator: ", ") + "."
    }

    private static func discussion(_ discussion: ReviewDiscussion, _ findings: [ReviewFinding]) -> [String] {
        let outcome = discussion.isConflict ? "they disagree: tick one of them at most" : "all can be done"
        let who = discussion.advisors.joined(separator: ", ")
        let inTurn = discussion.advisors.flatMap { advisor in
            findings.filter { $0.suggestion.advisorID == advisor }
        }
        return ["", "### L\(discussion.line) · \(inline(who)) · \(outcome)"] + inTurn.flatMap { [""] + block($0) }
    }

    private static func maker(_ suggestion: Suggestion) -> String {
        suggestion.rule.map { "\(suggestion.advisorID)/\($0)" } ?? suggestion.advisorID
    }

    static func block(_ finding: ReviewFinding) -> [String] {
        let suggestion = finding.suggestion
        var makers = [maker(suggestion)]
        for other in finding.others.map(maker) where !makers.contains(other) { makers.append(other) }
        let maker = makers.joined(separator: ", ")
        let mark = finding.isTicked ? "x" : finding.asked == nil ? " " : "?"
        var lines = [
            "- [\(mark)] **\(finding.key)** \(inline(maker)) · \(suggestion.type.rawValue) · "
                + "P\(suggestion.priority) · L\(suggestion.anchor.line)", "",
        ]
        lines += self.lines(suggestion.originalText).map { $0.isEmpty ? "  >" : "  > \($0)" }
        if let proposal = finding.proposal {
            let fence = fence(proposal)
            lines += ["", "  \(fence)text"]
            lines += self.lines(proposal).map { $0.isEmpty ? "" : "  \($0)" }
            lines.append("  \(fence)")
        }
        lines += ["", "  \(inline(suggestion.reasoning))"]
        for other in finding.others where other.rule == nil && other.advisorID != suggestion.advisorID {
            if finding.all.contains(where: other.repeats) { continue }
            lines += ["", "  \(inline("\(other.advisorID): \(other.reasoning)"))"]
        }
        for exchange in finding.exchanges ?? [] { lines += talk(exchange) }
        if let question = finding.asked, !question.isEmpty { lines += ["", "  You ask: \(inline(question))"] }
        if let note = finding.note { lines += ["", "  **\(inline(note))**"] }
        return lines
    }

    private static func talk(_ exchange: ReviewExchange) -> [String] {
        let question = exchange.question.isEmpty ? [] : ["", "  You asked: \(inline(exchange.question))"]
        return question + (exchange.reply.isEmpty ? [] : ["", "  \(inline("\(exchange.by): \(exchange.reply)"))"])
    }

    /// One backtick more than the longest run in the text, at least three.
    private static func fence(_ text: String) -> String {
        var longest = 0
        var run = 0
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        return String(repeating: "`", count: max(3, longest + 1))
    }

    /// Split at LF, whatever the draft's line endings are. A text without line endings is one line, an empty text none.
    static func lines(_ text: String) -> [String] {
        guard !text.isEmpty else { return [] }
        return unified(text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Converts CRLF and CR to LF.
    static func unified(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        var wasCR = false
        for scalar in text.unicodeScalars {
            if scalar == "\r" {
                out.append("\n")
            } else if !(scalar == "\n" && wasCR) {
                out.append(scalar)
            }
            wasCR = scalar == "\r"
        }
        return String(out)
    }

    /// Flattens untrusted text to one line without blocks, tags, pictures or comments, so that it cannot pose as an
    /// answer.
    package static func inline(_ text: String) -> String {
        SafeMarkdown.line(text.split(whereSeparator: { $0.isWhitespace || $0.isNewline }).joined(separator: " "))
    }

    /// The name inside the marker comment. Sidecars are recognized by it, so the format must not change.
    private static func comment(_ name: BytePath) -> String {
        let text = name.description.replacing("<!--", with: "\\<!--")
        let isMarked = text.unicodeScalars.first.map("-*+#>`~=<".unicodeScalars.contains) ?? false
        return ((isMarked ? "\\" : "") + text).replacing("--", with: "- -")
    }
}
