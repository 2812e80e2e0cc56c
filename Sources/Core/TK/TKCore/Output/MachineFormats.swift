import Platform

/// reviewdog's `rdjsonl`: one diagnostic per line, with replacements. Lines and columns count from 1, columns in UTF-8
/// bytes.
package struct RDJSONLFormatter: OutputFormatter {
    let setting: ReviewSetting

    package func piece(_ draft: ReviewedDraft) -> String {
        draft.suggestions.map { diagnostic($0.suggestion, draft).line + "\n" }.joined()
    }

    package func end(_ drafts: [ReviewedDraft]) -> String { "" }

    private func diagnostic(_ suggestion: Suggestion, _ draft: ReviewedDraft) -> JSON {
        let range: JSON = [
            "start": place(suggestion.anchor.start, draft.draft), "end": place(suggestion.anchor.end, draft.draft),
        ]
        var members: [(String, JSON)] = [
            ("message", .string(Printable.line(suggestion.reasoning))),
            ("location", ["path": .string(draft.name), "range": range]),
            ("severity", .string(["ERROR", "WARNING", "WARNING"][safe: suggestion.priority - 1] ?? "INFO")),
            ("source", ["name": "tk"]), ("code", ["value": .string(suggestion.maker)]),
        ]
        if suggestion.hasReplacement {
            members.append(("suggestions", [["range": range, "text": .string(suggestion.suggestedText)]]))
        }
        return .object(members)
    }

    private func place(_ offset: Int, _ draft: DraftText) -> JSON {
        ["line": .integer(draft.line(at: offset)), "column": .integer(draft.utf8Column(at: offset))]
    }
}

/// SARIF 2.1.0 for CI. Columns and offsets count Unicode scalars, which SARIF calls code points; the output declares
/// that.
package struct SARIFFormatter: OutputFormatter {
    let setting: ReviewSetting
    /// The program's; nil where it is not known.
    let version: String?

    /// The name of a finding's id among the fingerprints of a result.
    static let fingerprint = "tk/v1"

    package func piece(_ draft: ReviewedDraft) -> String { "" }

    package func end(_ drafts: [ReviewedDraft]) -> String {
        let all = drafts.flatMap { draft in draft.suggestions.map { (draft, $0.suggestion) } }
        let rules = SuggestionJSON.unique(all.map(\.1.maker)).sorted()
        var driver: [(String, JSON)] = [("name", "tk")]
        if let version { driver.append(("version", .string(version))) }
        driver.append(
            ("rules", .list(rules) { ["id": .string($0), "shortDescription": ["text": .string(title($0))]] }))
        let run: JSON = [
            "tool": ["driver": .object(driver)], "columnKind": "unicodeCodePoints",
            "results": .list(all) { result($1, $0, rules) },
        ]
        let log: JSON = [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run],
        ]
        return log.indented + "\n"
    }

    private func title(_ id: String) -> String { setting.advisors.first { $0.id == id }?.name ?? id }

    private func result(_ suggestion: Suggestion, _ draft: ReviewedDraft, _ rules: [String]) -> JSON {
        let artifact: JSON = ["uri": .string(Self.uri(draft.name))]
        let region = region(suggestion.anchor, draft.draft)
        var members: [(String, JSON)] = [
            ("ruleId", .string(suggestion.maker)), ("ruleIndex", .integer(rules.firstIndex(of: suggestion.maker) ?? 0)),
            ("level", .string(["error", "warning", "warning"][safe: suggestion.priority - 1] ?? "note")),
            ("message", ["text": .string(LineFormatter.message(suggestion))]),
            ("locations", [["physicalLocation": ["artifactLocation": artifact, "region": region]]]),
            ("partialFingerprints", .object([(Self.fingerprint, .string(suggestion.id))])),
        ]
        if suggestion.hasReplacement {
            let replacement: JSON = [
                "deletedRegion": region, "insertedContent": ["text": .string(suggestion.suggestedText)],
            ]
            let change: JSON = ["artifactLocation": artifact, "replacements": [replacement]]
            members.append(("fixes", [["artifactChanges": [change]]]))
        }
        return .object(members)
    }

    private func region(_ anchor: TextAnchor, _ draft: DraftText) -> JSON {
        [
            "startLine": .integer(draft.line(at: anchor.start)),
            "startColumn": .integer(draft.column(at: anchor.start)),
            "endLine": .integer(draft.line(at: anchor.end)), "endColumn": .integer(draft.column(at: anchor.end)),
            "charOffset": .integer(anchor.start), "charLength": .integer(anchor.end - anchor.start),
        ]
    }

    /// A `file` URI for an absolute path, else a relative reference: a name with `:` before any slash would be taken
    /// for a scheme.
    static func uri(_ name: String) -> String {
        (name.hasPrefix("/") ? "file://" : "") + percentEncoded(name.utf8)
    }
}

extension ReviewedDraft {
    /// The findings in the format `line`, and as SARIF, for files beside a review.
    package var machineFiles: (quickfix: String, sarif: String) {
        let setting = ReviewSetting(advisors: [], prices: ModelTable(models: []))
        return (LineFormatter(setting: setting).piece(self), SARIFFormatter(setting: setting, version: nil).end([self]))
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
