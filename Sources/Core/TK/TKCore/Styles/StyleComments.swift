/// Vale's comments: `<!-- vale off -->`, `<!-- vale on -->`, `<!-- vale Style.Rule = NO -->`, and the same in the
/// comments of other formats.
struct StyleComments {
    /// Each with the rule, the style, or nothing for all, that is off there.
    private var spans: [(range: Range<Int>, name: String?)] = []

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
                spans.append((start..<range.upperBound, name))
            }
        }
        spans += open.map { ($0.value..<draft.count, $0.key) }
    }

    private nonisolated(unsafe) static let comment =
        /(?:<!--|\{\/\*|^\s*(?:\/\/|\.\.|#|%))\s*vale\s+(?:([\w-]+(?:\.[\w-]+)?)\s*=\s*)?(?i:(off|on|yes|no))\b/

    func silence(_ finding: StyleScan.Finding) -> Bool {
        spans.contains { span in
            span.range.overlaps(finding.range)
                && (span.name.map { $0 == finding.rule.name || $0 == finding.rule.style } ?? true)
        }
    }
}
