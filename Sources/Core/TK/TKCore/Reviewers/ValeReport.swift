import Platform

/// Vale's JSON: by file, its alerts. `Span` counts characters of the line from 1, both ends included; `Match` has the
/// words themselves.
enum ValeReport {
    /// - Returns: nil if the value is no such report.
    static func findings(_ value: JSON, _ places: ReportedPlaces) -> [ReportedFinding]? {
        guard case .object(let files) = value else { return nil }
        var findings: [ReportedFinding] = []
        for (file, alerts) in files {
            guard case .array(let alerts) = alerts else { return nil }
            for alert in alerts {
                guard alert["Check"] != nil, alert["Line"] != nil else { return nil }
                findings.append(finding(alert, file, places))
            }
        }
        return findings
    }

    private static func finding(_ alert: JSON, _ file: String, _ places: ReportedPlaces) -> ReportedFinding {
        let line = alert["Line"]?.whole ?? 0
        let span = alert["Span"]?.items.compactMap(\.whole) ?? []
        let match = alert["Match"]?.text ?? ""
        let severity = alert["Severity"]?.text
        var finding = ReportedFinding(
            author: "vale", rule: alert["Check"]?.text, message: alert["Message"]?.text ?? "", file: file,
            quote: match.isEmpty ? nil : match,
            priority: severity == "error" ? 1 : severity == "suggestion" ? 4 : 3,
            place: ReportedPlaces.shown(line, span.first))
        if span.count == 2 {
            finding.range = places.range(
                line: line, column: span[0], endLine: line, endColumn: span[1] + 1, .scalars)
        }
        let words = alert["Action"]?["Params"]?.items.compactMap(\.text) ?? []
        switch alert["Action"]?["Name"]?.text {
        case "replace":
            finding.replacement = words.first
            finding.alternatives = Array(words.dropFirst())
        case "remove": finding.replacement = ""
        default: break
        }
        return finding
    }
}
