import CCmarkGfm
import Testing

/// How a CommonMark and GFM parser reads a text.
struct MarkdownReading: Equatable {
    /// The kinds of its blocks, each with its depth.
    var blocks: [String] = []
    /// Raw HTML, in blocks and inline.
    var html: [String] = []
    /// Addresses.
    var links: [String] = []
    var pictures: [String] = []
    /// The kinds of all inline elements, and all their text.
    var inlines: Set<String> = []
    var text = ""

    private static let isRegistered: Bool = {
        cmark_gfm_core_extensions_ensure_registered()
        return true
    }()

    init(_ markdown: String) {
        // Two unparsed texts would be equal.
        guard Self.isRegistered, let parser = cmark_parser_new(CMARK_OPT_DEFAULT | CMARK_OPT_FOOTNOTES) else {
            Issue.record("cmark gives no parser")
            return
        }
        defer { cmark_parser_free(parser) }
        for name in ["table", "strikethrough", "tasklist"] {
            if let found = cmark_find_syntax_extension(name) { cmark_parser_attach_syntax_extension(parser, found) }
        }
        Array(markdown.utf8).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            cmark_parser_feed(parser, start.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let document = cmark_parser_finish(parser) else {
            Issue.record("cmark reads nothing")
            return
        }
        defer { cmark_node_free(document) }
        read(document, 0)
    }

    private mutating func read(_ node: OpaquePointer, _ depth: Int) {
        let kind = String(cString: cmark_node_get_type_string(node))
        let type = cmark_node_get_type(node)
        let literal = cmark_node_get_literal(node).map { String(cString: $0) } ?? ""
        let url = cmark_node_get_url(node).map { String(cString: $0) } ?? ""
        if type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE { html.append(literal) }
        if type == CMARK_NODE_LINK { links.append(url) }
        if type == CMARK_NODE_IMAGE { pictures.append(url) }
        if type.rawValue & UInt32(CMARK_NODE_TYPE_MASK) == UInt32(CMARK_NODE_TYPE_BLOCK) {
            blocks.append("\(depth) \(kind) \(type == CMARK_NODE_HEADING ? cmark_node_get_heading_level(node) : 0)")
        } else {
            inlines.insert(kind)
            text += literal
        }
        var child = cmark_node_first_child(node)
        while let next = child {
            read(next, depth + 1)
            child = cmark_node_next(next)
        }
    }
}
