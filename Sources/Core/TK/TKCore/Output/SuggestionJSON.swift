import Platform

/// The JSON of findings, version 1.0: described field by field in docs/tk.md. Ranges count Unicode scalars.
package enum SuggestionJSON {
    /// Of the format, not of the program: a program that reads 1.0 reads every 1.x.
    package static let version = "1.0"

    static func suggestion(_ entry: MergedSuggestion, in draft: ReviewedDraft, _ setting: ReviewSetting) -> JSON {
        let suggestion = entry.suggestion
        let anchor = suggestion.anchor
        return [
            "id": .string(suggestion.id), "file": .string(draft.name), "advisor_id": .string(suggestion.advisorID),
            "advisor_name": .string(setting.name(of: suggestion.advisorID)),
            "also_by": .strings(entry.advisorIDs.dropFirst()), "rule": .optional(suggestion.rule),
            "type": .string(suggestion.type.rawValue), "category": .string(suggestion.category),
            "priority": .integer(suggestion.priority), "confidence": .number(suggestion.confidence),
            "range_start": .integer(anchor.start), "range_end": .integer(anchor.end),
            "line": .integer(draft.draft.line(at: anchor.start)),
            "column": .integer(draft.draft.column(at: anchor.start)),
            "original_text": .string(suggestion.originalText), "suggested_text": .string(suggestion.suggestedText),
            "has_replacement": .bool(suggestion.hasReplacement), "reasoning": .string(suggestion.reasoning),
        ]
    }

    static func discussion(_ thread: DiscussionThread, in draft: ReviewedDraft) -> JSON {
        [
            "id": .string(thread.id), "file": .string(draft.name), "verdict": .string(thread.verdict.rawValue),
            "range_start": .integer(thread.anchor.start), "range_end": .integer(thread.anchor.end),
            "original_text": .string(thread.anchor.exact),
            "participants": .list(thread.participants) {
                ["advisor_id": .string($0.advisorID), "suggestions": .strings($0.suggestions.map(\.id))]
            },
        ]
    }

    static func metadata(_ drafts: [ReviewedDraft], _ setting: ReviewSetting) -> JSON {
        let calls = drafts.flatMap(\.calls)
        var dropped = DroppedFindings()
        for draft in drafts { dropped += draft.dropped }
        let stages = Set(drafts.map(\.stage))
        let stage = setting.stage ?? (stages.count == 1 ? drafts.first?.stage : nil)
        return [
            "mode": .string(drafts.contains(where: \.usedModel) ? "advisors" : "quick"),
            "advisors": .strings(setting.advisors.map(\.id)), "story_type": .optional(setting.storyType?.id),
            "stage": .optional(stage?.rawValue), "muted_rules": .strings(setting.mutedRules.sorted()),
            "range_unit": "unicode-scalar", "files": .array(drafts.map(file)),
            "provider": .optional(calls.first?.provider),
            "model": .optional(calls.first?.model), "usage": usage(calls, setting),
            "partial": .bool(drafts.contains(where: \.isPartial)), "dropped": Self.dropped(dropped),
            "failures": failures(drafts.flatMap(\.failures)), "notices": .strings(unique(drafts.flatMap(\.notices))),
        ]
    }

    private static func file(_ draft: ReviewedDraft) -> JSON {
        [
            "name": .string(draft.name), "scalars": .integer(draft.draft.count),
            "sha256": .string(draft.draft.hash), "suggestions": .integer(draft.suggestions.count),
        ]
    }

    /// The tokens of all calls; `null` if there were none.
    package static func usage(_ calls: [CallSummary], _ setting: ReviewSetting) -> JSON {
        guard !calls.isEmpty else { return .null }
        let sum = calls.reduce(LLMUsage()) { $0 + ($1.usage ?? LLMUsage()) }
        return [
            "calls": .integer(calls.count), "input_tokens": .integer(sum.totalInputTokens),
            "cache_read_tokens": .integer(sum.cacheReadTokens), "cache_write_tokens": .integer(sum.cacheWriteTokens),
            "output_tokens": .integer(sum.outputTokens), "cost_usd": .dollars(setting.cost(of: calls)),
        ]
    }

    package static func failures(_ failures: [AdvisorFailure]) -> JSON {
        .list(failures) { ["advisor_id": .string($0.advisorID), "message": .string($0.message)] }
    }

    private static func dropped(_ dropped: DroppedFindings) -> JSON {
        [
            "unreadable": .integer(dropped.unreadable), "not_in_text": .integer(dropped.notInText),
            "ambiguous": .integer(dropped.ambiguous), "unknown_advisor": .integer(dropped.unknownAdvisor),
            "without_change": .integer(dropped.withoutChange), "echoed": .integer(dropped.echoed),
            "repeated": .integer(dropped.repeated), "exempt": .integer(dropped.exempt),
            "filtered": .integer(dropped.filtered), "beyond_maximum": .integer(dropped.beyondMaximum),
        ]
    }

    static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}

/// One document: `{"version": "1.0", "suggestions": […], "discussions": […], "metadata": {…}}`.
package struct JSONFormatter: OutputFormatter {
    let setting: ReviewSetting

    package func piece(_ draft: ReviewedDraft) -> String { "" }

    package func end(_ drafts: [ReviewedDraft]) -> String {
        CatalogueOutput.document([
            "suggestions": .array(
                drafts.flatMap { draft in
                    draft.suggestions.map { SuggestionJSON.suggestion($0, in: draft, setting) }
                }),
            "discussions": .array(
                drafts.flatMap { draft in draft.discussions.map { SuggestionJSON.discussion($0, in: draft) } }),
            "metadata": SuggestionJSON.metadata(drafts, setting),
        ])
    }
}

/// One object per line: `{"record": "suggestion", …}` as each draft is done, `discussion`, then one `metadata`.
package struct NDJSONFormatter: OutputFormatter {
    let setting: ReviewSetting

    package func piece(_ draft: ReviewedDraft) -> String {
        (draft.suggestions.map { record("suggestion", SuggestionJSON.suggestion($0, in: draft, setting)) }
            + draft.discussions.map { record("discussion", SuggestionJSON.discussion($0, in: draft)) }).joined()
    }

    package func end(_ drafts: [ReviewedDraft]) -> String {
        record("metadata", SuggestionJSON.metadata(drafts, setting))
    }

    private func record(_ name: String, _ value: JSON) -> String {
        guard case .object(let members) = value else { return "" }
        return JSON.object([("record", .string(name)), ("version", .string(SuggestionJSON.version))] + members).line
            + "\n"
    }
}

extension JSON {
    /// The text, or `null`.
    package static func optional(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

    /// The number, or `null`.
    package static func optional(_ number: Int?) -> JSON { number.map(JSON.integer) ?? .null }

    package static func list<T>(_ values: some Sequence<T>, _ json: (T) -> JSON) -> JSON { .array(values.map(json)) }
    package static func strings(_ texts: some Sequence<String>) -> JSON { .array(texts.map(JSON.string)) }

    /// US dollars, or `null` if the price is unknown.
    package static func dollars(_ cost: Cost?) -> JSON { cost.map { .number($0.dollars) } ?? .null }
}
