import Platform

/// reviewdog's diagnostics. Lines and columns count from 1, columns in UTF-8 bytes; a range's end is exclusive.
enum RDJSONReport {
    /// A diagnostic with several changes at different places is several findings.
    ///
    /// - Parameter source: of all diagnostics in the document.
    /// - Returns: nil if the value is no diagnostic.
    static func findings(
        _ diagnostic: JSON, _ places: ReportedPlaces, source: JSON? = nil
    ) -> [ReportedFinding]? {
        guard let message = diagnostic["message"]?.text, let location = diagnostic["location"] else { return nil }
        var finding = ReportedFinding(
            author: (diagnostic["source"] ?? source)?["name"]?.text, rule: diagnostic["code"]?["value"]?.text,
            message: message, file: location["path"]?.text, range: range(location["range"], places, isChange: false),
            priority: priority(diagnostic["severity"]))
        let start = location["range"]?["start"]
        finding.place = ReportedPlaces.shown(start?["line"]?.whole, start?["column"]?.whole)
        var changes: [ReportedFinding] = []
        for suggestion in diagnostic["suggestions"]?.items ?? [] {
            guard let text = suggestion["text"]?.text else { continue }
            var change = finding
            change.replacement = text
            if let told = suggestion["range"] { change.range = range(told, places, isChange: true) }
            if let index = changes.firstIndex(where: { $0.range == change.range }) {
                changes[index].alternatives.append(text)
            } else {
                changes.append(change)
            }
        }
        return changes.isEmpty ? [finding] : changes
    }

    /// - Parameter isChange: whether an absent end means an insertion rather than a word.
    private static func range(_ range: JSON?, _ places: ReportedPlaces, isChange: Bool) -> Range<Int>? {
        guard let start = range?["start"], let line = start["line"]?.whole else { return nil }
        let end = range?["end"]
        let column = start["column"]?.whole
        if isChange, end == nil, let column {
            return places.offset(line: line, column: column, .utf8).map { $0..<$0 }
        }
        return places.range(
            line: line, column: column, endLine: end?["line"]?.whole, endColumn: end?["column"]?.whole, .utf8)
    }

    /// By name or by its number in the protocol.
    private static func priority(_ severity: JSON?) -> Int {
        switch severity?.text ?? severity?.whole.map(String.init) {
        case "ERROR", "1": 1
        case "INFO", "3": 4
        default: 3
        }
    }
}
