/// Findings for people, in colour if the style allows it.
package struct TextFormatter: OutputFormatter {
    let setting: ReviewSetting
    let style: TerminalStyle

    package init(setting: ReviewSetting, style: TerminalStyle) {
        self.setting = setting
        self.style = style
    }

    package func piece(_ draft: ReviewedDraft) -> String {
        var lines = [heading(draft)]
        for entry in draft.suggestions { lines += block(entry, draft) }
        return (lines + discussions(draft)).joined(separator: "\n") + "\n\n"
    }

    /// The first line of a draft whose suggestions follow as they arrive.
    package func opening(_ name: String) -> String { style.bold(Printable.line(name)) + ":" }

    /// What follows when all have arrived.
    package func closing(_ draft: ReviewedDraft) -> String {
        (discussions(draft) + ["", heading(draft)]).joined(separator: "\n") + "\n\n"
    }

    private func discussions(_ draft: ReviewedDraft) -> [String] {
        draft.discussions.flatMap { discussion($0, draft) }
    }

    package func end(_ drafts: [ReviewedDraft]) -> String {
        guard drafts.count > 1 else { return "" }
        let count = drafts.reduce(0) { $0 + $1.suggestions.count }
        return "\(Self.counted(count, "suggestion")) in \(drafts.count) files\n"
    }

    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private func heading(_ draft: ReviewedDraft) -> String {
        let count = draft.suggestions.isEmpty ? "no suggestions" : Self.counted(draft.suggestions.count, "suggestion")
        return style.bold(Printable.line(draft.name)) + ": " + count
    }

    /// One suggestion: advisor, kind and place; the original and the proposed words; the reason.
    package func block(_ entry: MergedSuggestion, _ draft: ReviewedDraft) -> [String] {
        let suggestion = entry.suggestion
        let start = suggestion.anchor.start
        let place = "\(draft.draft.line(at: start)):\(draft.draft.column(at: start))"
        var facts = [suggestion.type.rawValue, suggestion.category, "P\(suggestion.priority)"]
        facts.append("\(Int((suggestion.confidence * 100).rounded())) %")
        if let rule = suggestion.rule { facts.append(rule) }
        let others = entry.advisorIDs.dropFirst().map(setting.name(of:))
        if !others.isEmpty { facts.append("also \(others.joined(separator: ", "))") }
        var lines = [
            "", "  \(who(suggestion.advisorID))  \(style.dim(place + " · " + facts.joined(separator: " · ")))",
        ]
        lines += quoted("- ", suggestion.originalText, style.red)
        if suggestion.hasReplacement {
            if suggestion.suggestedText.isEmpty {
                lines.append("    " + style.green("+ (remove)"))
            } else {
                lines += quoted("+ ", suggestion.suggestedText, style.green)
            }
        }
        return lines + style.wrapped(Printable.text(suggestion.reasoning), indent: "    ")
    }

    private func who(_ advisorID: String) -> String {
        let role = setting.advisors.first { $0.id == advisorID }
        return style.coloured(Printable.line(setting.name(of: advisorID)), role?.color ?? "#607D8B")
    }

    private func quoted(_ mark: String, _ text: String, _ colour: (String) -> String) -> [String] {
        Printable.text(text).split(separator: "\n", omittingEmptySubsequences: false).map { "    " + colour(mark + $0) }
    }

    private func discussion(_ thread: DiscussionThread, _ draft: ReviewedDraft) -> [String] {
        let names = thread.participants.map { setting.name(of: $0.advisorID) }
        let verdict = thread.verdict == .conflict ? style.yellow("disagree") : "agree"
        var lines = [
            "",
            "  " + style.bold(names.joined(separator: " and ")) + " \(verdict) about line "
                + "\(draft.draft.line(at: thread.anchor.start)):",
        ]
        for participant in thread.participants {
            for suggestion in participant.suggestions {
                let words = suggestion.hasReplacement ? "“\(Printable.line(suggestion.suggestedText))”" : "no wording"
                let text =
                    "\(setting.name(of: participant.advisorID)): \(words). \(Printable.line(suggestion.reasoning))"
                lines += style.wrapped(text, indent: "    ")
            }
        }
        return lines
    }
}
