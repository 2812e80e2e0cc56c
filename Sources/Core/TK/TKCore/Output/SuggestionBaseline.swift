import Platform

/// The findings of an earlier run, by their ids: SARIF, or the JSON of `tk suggest`.
package struct SuggestionBaseline: Sendable {
    private let ids: Set<String>

    /// - Throws: `Fault` (`.usage`) if the file is neither, or SARIF of another program.
    package init(_ bytes: [UInt8], path: BytePath) throws {
        let members: [String: JSON]
        do {
            members = try JSONFile(bytes, path: path).members
        } catch let problem as FileProblem {
            throw problem.fault
        }
        if let suggestions = members["suggestions"] {
            ids = Set(Self.elements(suggestions).compactMap { $0.members?["id"]?.text })
            return
        }
        guard let runs = members["runs"] else {
            throw Fault(
                .usage, "\(path) is neither SARIF nor the output of `tk suggest --json`", path: path)
        }
        let results = Self.elements(runs).flatMap { Self.elements($0.members?["results"]) }
        ids = Set(
            results.compactMap { $0.members?["partialFingerprints"]?.members?[SARIFFormatter.fingerprint]?.text })
        guard results.isEmpty || !ids.isEmpty else {
            throw Fault(.usage, "\(path) is SARIF of another program: its results have no ids of tk", path: path)
        }
    }

    /// The draft with the findings that are new; the others count as filtered.
    package func news(in reviewed: ReviewedDraft) -> ReviewedDraft {
        var news = reviewed
        news.suggestions.removeAll { $0.ids.contains(where: ids.contains) }
        news.dropped.filtered += reviewed.suggestions.count - news.suggestions.count
        news.discussions = SuggestionMerger.threads(news.suggestions, of: news.draft)
        return news
    }

    private static func elements(_ value: JSON?) -> [JSON] {
        guard case .array(let elements)? = value else { return [] }
        return elements
    }
}
