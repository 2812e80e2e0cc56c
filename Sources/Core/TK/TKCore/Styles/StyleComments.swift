/// Vale's comments: `<!-- vale off -->`, `<!-- vale on -->`, `<!-- vale Style.Rule = NO -->`, and the same in the
/// comments of other formats.
struct StyleComments {
    /// Where a rule or a style is off, or all, by nil. In order, without overlaps.
    private var spans: [String?: [Range<Int>]] = [:]

    init(_ draft: DraftText) {
        guard draft.string.contains("vale ") else { return }
        var open: [String?: Int] = [:]
        for line in 1...draft.lineCount {
            let range = draft.textRange(ofLine: line)
            let text = draft[range]
            guard text.contains("vale "), let match = text.firstMatch(of: Self.comment) else { continue }
            let name = match.output.1.map(String.init)
            let isOff = ["off", "no"].contains(match.output.2.lowercased())
            if isOff {
                open[name] = open[name] ?? range.lowerBound
            } else if let start = open.removeValue(forKey: name) {
                spans[name, default: []].append(start..<range.upperBound)
            }
        }
        for (name, start) in open { spans[name, default: []].append(start..<draft.count) }
    }

    private nonisolated(unsafe) static let comment =
        /(?:<!--|\{\/\*|^\s*(?:\/\/|\.\.|#|%))\s*vale\s+(?:([\w-]+(?:\.[\w-]+)?)\s*=\s*)?(?i:(off|on|yes|no))\b/

    func silence(_ finding: StyleScan.Finding) -> Bool {
        guard !spans.isEmpty else { return false }
        return [nil, finding.rule.name, String(finding.rule.style)].contains { name in
            spans[name]?.first(beyond: finding.range.lowerBound).map { $0.overlaps(finding.range) } ?? false
        }
    }
}
