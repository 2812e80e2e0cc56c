/// The output formats of findings; the last three are for editors and CI (docs/design/tk.md, "Findings go out").
package enum SuggestionFormat: String, Sendable, CaseIterable {
    case text, json, ndjson, quiet, line, rdjsonl, sarif
}

/// Writes the findings of several drafts: some output as each draft is done, the rest at the end. Every piece ends with
/// a line break, or is empty.
package protocol OutputFormatter: Sendable {
    /// Called once for each draft, in order.
    func piece(_ draft: ReviewedDraft) -> String
    /// Called once, after all drafts.
    func end(_ drafts: [ReviewedDraft]) -> String
}

extension SuggestionFormat {
    package func formatter(_ setting: ReviewSetting, style: TerminalStyle, version: String) -> any OutputFormatter {
        switch self {
        case .text: TextFormatter(setting: setting, style: style)
        case .json: JSONFormatter(setting: setting)
        case .ndjson: NDJSONFormatter(setting: setting)
        case .quiet: QuietFormatter()
        case .line: LineFormatter(setting: setting)
        case .rdjsonl: RDJSONLFormatter(setting: setting)
        case .sarif: SARIFFormatter(setting: setting, version: version)
        }
    }
}

/// Only the suggested text, one suggestion per line, with line breaks as spaces. Suggestions without a wording, and
/// removals, are left out.
package struct QuietFormatter: OutputFormatter {
    package init() {}

    package func piece(_ draft: ReviewedDraft) -> String {
        draft.suggestions.map(\.suggestion).filter(\.hasReplacement).map { Printable.line($0.suggestedText) }
            .filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
    }

    package func end(_ drafts: [ReviewedDraft]) -> String { "" }
}

/// `path:line:column: message [maker]`, which editors parse like a compiler's output. Columns count UTF-8 bytes.
package struct LineFormatter: OutputFormatter {
    let setting: ReviewSetting

    package func piece(_ draft: ReviewedDraft) -> String {
        draft.suggestions.map { entry in
            let start = entry.suggestion.anchor.start
            let place = "\(draft.draft.line(at: start)):\(draft.draft.utf8Column(at: start))"
            let message = "\(Self.message(entry.suggestion)) [\(entry.suggestion.maker)]"
            return "\(Printable.line(draft.name)):\(place): \(message)\n"
        }.joined()
    }

    package func end(_ drafts: [ReviewedDraft]) -> String { "" }

    /// The proposed change, and its reason, in one line.
    static func message(_ suggestion: Suggestion) -> String {
        let old = short(suggestion.originalText)
        let reason = Printable.line(suggestion.reasoning)
        guard suggestion.hasReplacement else { return "“\(old)”: \(reason)" }
        let new = Printable.line(suggestion.suggestedText)
        return new.isEmpty ? "remove “\(old)”: \(reason)" : "“\(old)” → “\(short(new))”: \(reason)"
    }

    private static func short(_ text: String) -> String {
        let line = Printable.line(text)
        return line.count <= 80 ? line : line.prefix(79) + "…"
    }
}
