/// A document with all its footnotes: cmark leaves out unreferenced ones, whose text would be lost.
enum UnusedFootnotes {
    /// The document's blocks; unreferenced footnotes come after the others.
    static func nodes(_ markdown: String) -> [MarkdownNode] {
        guard case .document(let nodes) = MarkdownNode(markdown) else { return [] }
        let labels = labels(in: markdown)
        guard labels.count > nodes.count(where: \.isFootnote) else { return nodes }
        // References in an extra paragraph after the text, which is removed again.
        let leading = labels.map { "[^\($0)]" }.joined(separator: " ")
        guard case .document(var all) = MarkdownNode(markdown + "\n\n" + leading + "\n"),
            let last = all.lastIndex(where: { !$0.isFootnote }), case .paragraph(let inside) = all[last],
            inside.allSatisfy({ $0.isLeading })
        else { return nodes }
        all.remove(at: last)
        return all
    }

    /// Every footnote label at the start of a line, each once; those in code do no harm.
    private static func labels(in markdown: String) -> [String] {
        var seen: Set<String> = []
        return markdown.split(whereSeparator: \.isNewline).compactMap { line in
            let start = line.drop { $0 == " " || $0 == ">" || $0 == "\t" }
            guard start.hasPrefix("[^"), let close = start.firstIndex(of: "]"),
                start[start.index(after: close)...].hasPrefix(":")
            else { return nil }
            let label = String(start.dropFirst(2)[..<close])
            guard !label.isEmpty, !label.contains(where: { $0.isWhitespace || $0 == "[" || $0 == "^" }) else {
                return nil
            }
            return seen.insert(label.lowercased()).inserted ? label : nil
        }
    }
}

extension MarkdownNode {
    fileprivate var isFootnote: Bool { if case .footnote = self { true } else { false } }

    /// A reference, or the remains of one without a target.
    fileprivate var isLeading: Bool {
        switch self {
        case .footnoteReference, .softBreak: true
        case .text(let text): text.allSatisfy { $0.isWhitespace } || text.contains("[^") || text.contains("]")
        default: false
        }
    }
}
