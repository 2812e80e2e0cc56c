import CCmarkGfm

/// How often each word of a text has each emphasis, as CommonMark parses it, regardless of the text's format.
struct EmphasisMarks {
    /// By word, then by emphasis; words without any are counted as well.
    private var words: [String: [String: Int]] = [:]
    /// Asterisks and underscores that emphasise nothing.
    private var loose = 0
    /// Of `~~`, which only GFM's extension parses.
    private var strikes = 0

    init(_ text: String) {
        guard let parser = cmark_parser_new(CMARK_OPT_DEFAULT) else { return }
        defer { cmark_parser_free(parser) }
        Array(text.utf8).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            cmark_parser_feed(parser, start.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let document = cmark_parser_finish(parser) else { return }
        defer { cmark_node_free(document) }
        guard let walk = cmark_iter_new(document) else { return }
        defer { cmark_iter_free(walk) }
        var emphasis = ""
        while case let event = cmark_iter_next(walk), event != CMARK_EVENT_DONE {
            guard let node = cmark_iter_get_node(walk) else { continue }
            switch cmark_node_get_type(node) {
            case CMARK_NODE_EMPH, CMARK_NODE_STRONG:
                let mark: Character = cmark_node_get_type(node) == CMARK_NODE_EMPH ? "e" : "s"
                if event == CMARK_EVENT_ENTER { emphasis.append(mark) } else { emphasis.removeLast() }
            case CMARK_NODE_TEXT:
                if let literal = cmark_node_get_literal(node) { add(String(cString: literal), emphasis) }
            default: break
            }
        }
    }

    private mutating func add(_ text: String, _ emphasis: String) {
        for word in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
            words[word.lowercased(), default: [:]][emphasis, default: 0] += 1
        }
        loose += text.unicodeScalars.count { $0 == "*" || $0 == "_" }
        strikes += text.ranges(of: "~~").count
    }

    /// Whether words have lost or gained emphasis in another version of the text, or half a pair of marks is left.
    /// Emphasis may go with its words.
    func differ(from other: EmphasisMarks) -> Bool {
        if other.loose > loose || other.strikes % 2 != strikes % 2 { return true }
        return other.words.contains { word, after in
            guard let before = words[word], before != after else { return false }
            let styles = Set(before.keys).union(after.keys)
            let changes = styles.map { after[$0, default: 0] - before[$0, default: 0] }
            return changes.contains { $0 < 0 } && changes.contains { $0 > 0 }
        }
    }
}
