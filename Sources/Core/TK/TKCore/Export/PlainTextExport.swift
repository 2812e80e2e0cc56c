/// A draft's words without Markdown markup: paragraphs separated by an empty line, lists with their markers.
package enum PlainTextExport {
    package static func text(_ draft: DraftExport) -> String {
        let nodes = UnusedFootnotes.nodes(draft.markdown)
        let text = blocks(nodes, separator: "\n\n")
        return text.isEmpty ? "" : text + "\n"
    }

    private static func blocks(_ nodes: [MarkdownNode], separator: String) -> String {
        nodes.compactMap(block).joined(separator: separator)
    }

    private static func block(_ node: MarkdownNode) -> String? {
        switch node {
        case .document(let inside): return blocks(inside, separator: "\n\n")
        case .paragraph(let inside), .heading(_, let inside): return line(inside)
        case .quotation(let inside): return indented(blocks(inside, separator: "\n\n"), first: "  ", rest: "  ")
        case .code(_, let text):
            return indented(text.hasSuffix("\n") ? String(text.dropLast()) : text, first: "    ", rest: "    ")
        case .rule: return "* * *"
        case .list(let start, let isTight, let items):
            return items.enumerated().map { index, item in
                self.item(item, mark: start.map { "\($0 + index). " } ?? "- ", isTight: isTight)
            }.joined(separator: isTight ? "\n" : "\n\n")
        case .table(let rows):
            return rows.map { $0.map(line).joined(separator: "\t") }.joined(separator: "\n")
        case .footnote(let label, let inside):
            return indented(blocks(inside, separator: "\n\n"), first: "[\(label)] ", rest: "    ")
        case .item: return item(node, mark: "- ", isTight: true)
        default: return line([node])
        }
    }

    private static func item(_ node: MarkdownNode, mark: String, isTight: Bool) -> String {
        guard case .item(let isDone, let inside) = node else { return block(node) ?? "" }
        let task = isDone.map { $0 ? "[x] " : "[ ] " } ?? ""
        return indented(
            blocks(inside, separator: isTight ? "\n" : "\n\n"), first: mark + task,
            rest: String(repeating: " ", count: mark.count))
    }

    private static func indented(_ text: String, first: String, rest: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, line in
            index == 0 ? first + line : line.isEmpty ? "" : rest + line
        }.joined(separator: "\n")
    }

    /// A link's address follows its text, unless they are the same.
    private static func line(_ nodes: [MarkdownNode]) -> String {
        nodes.map { node -> String in
            switch node {
            case .link(let url, let inside):
                let words = line(inside)
                return url.isEmpty || url == words || url == "mailto:" + words ? words : "\(words) (\(url))"
            case .softBreak, .lineBreak: return "\n"
            case .emphasis(let inside), .strong(let inside), .strike(let inside), .image(_, let inside):
                return line(inside)
            default: return MarkdownNode.words([node])
            }
        }.joined()
    }
}
