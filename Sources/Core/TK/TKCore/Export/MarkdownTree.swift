import CCmarkGfm
import Synchronization

/// A Markdown document as a tree of values, as parsed by cmark-gfm (GitHub's Markdown: tables, strikethrough, task
/// lists, bare links, footnotes).
package indirect enum MarkdownNode: Sendable, Equatable {
    case document([MarkdownNode])
    case paragraph([MarkdownNode])
    case heading(Int, [MarkdownNode])
    case quotation([MarkdownNode])
    /// `start` is nil for a list without numbers.
    case list(start: Int?, isTight: Bool, [MarkdownNode])
    /// `isDone` is nil if it is not a task.
    case item(isDone: Bool?, [MarkdownNode])
    case code(language: String, String)
    case rule
    case table([[[MarkdownNode]]])
    case footnote(String, [MarkdownNode])
    case text(String)
    case softBreak
    case lineBreak
    case codeSpan(String)
    case emphasis([MarkdownNode])
    case strong([MarkdownNode])
    case strike([MarkdownNode])
    case link(String, [MarkdownNode])
    case image(String, [MarkdownNode])
    case footnoteReference(String)
}

/// cmark-gfm with its extensions. Those change cmark tables shared by all threads, so only one document is parsed at a
/// time; the masker, which may run concurrently, uses none of the syntax that they add.
enum CmarkDocument {
    private static let turn = Mutex<Bool>(false)

    /// Calls `body` with the parsed document, which is valid until it returns.
    static func with<R>(_ markdown: String, _ body: (OpaquePointer, UnsafeMutablePointer<cmark_llist>?) throws -> R)
        rethrows -> R?
    {
        try turn.withLock { isRegistered in
            if !isRegistered {
                cmark_gfm_core_extensions_ensure_registered()
                isRegistered = true
            }
            guard let parser = cmark_parser_new(options) else { return nil }
            defer { cmark_parser_free(parser) }
            for name in ["table", "strikethrough", "tasklist", "autolink", "tagfilter"] {
                if let found = cmark_find_syntax_extension(name) { cmark_parser_attach_syntax_extension(parser, found) }
            }
            let bytes = Array(markdown.utf8)
            bytes.withUnsafeBytes { buffer in
                guard let start = buffer.baseAddress else { return }
                cmark_parser_feed(parser, start.assumingMemoryBound(to: CChar.self), buffer.count)
            }
            guard let document = cmark_parser_finish(parser) else { return nil }
            defer { cmark_node_free(document) }
            return try body(document, cmark_parser_get_syntax_extensions(parser))
        }
    }

    static var options: Int32 { CMARK_OPT_DEFAULT | CMARK_OPT_FOOTNOTES | CMARK_OPT_VALIDATE_UTF8 }
}

extension MarkdownNode {
    /// Deeper nesting is flattened: it does not occur in practice, and trees are walked recursively.
    private static let deepest = 64

    package init(_ markdown: String) {
        self =
            CmarkDocument.with(markdown) { document, _ in .document(Self.children(of: document, depth: 0)) }
            ?? .document([])
    }

    private static func children(of node: OpaquePointer, depth: Int) -> [MarkdownNode] {
        var nodes: [MarkdownNode] = []
        var next = cmark_node_first_child(node)
        // Footnotes are at the end, in the order of their references' numbers.
        var footnotes = 0
        while let child = next {
            if cmark_node_get_type(child) == CMARK_NODE_FOOTNOTE_DEFINITION {
                footnotes += 1
                nodes.append(.footnote("\(footnotes)", children(of: child, depth: depth + 1)))
            } else if let made = make(child, depth: depth + 1) {
                nodes.append(made)
            }
            next = cmark_node_next(child)
        }
        return nodes
    }

    private static func make(_ node: OpaquePointer, depth: Int) -> MarkdownNode? {
        guard depth <= deepest else { return .text(plain(node)) }
        func inside() -> [MarkdownNode] { children(of: node, depth: depth) }
        func literal() -> String { cmark_node_get_literal(node).map { String(cString: $0) } ?? "" }
        switch cmark_node_get_type(node) {
        case CMARK_NODE_PARAGRAPH: return .paragraph(inside())
        case CMARK_NODE_HEADING: return .heading(Int(cmark_node_get_heading_level(node)), inside())
        case CMARK_NODE_BLOCK_QUOTE: return .quotation(inside())
        case CMARK_NODE_LIST:
            let isOrdered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST
            return .list(
                start: isOrdered ? Int(cmark_node_get_list_start(node)) : nil,
                isTight: cmark_node_get_list_tight(node) != 0, inside())
        case CMARK_NODE_ITEM:
            let isTask = name(of: node) == "tasklist"
            return .item(isDone: isTask ? cmark_gfm_extensions_get_tasklist_item_checked(node) : nil, inside())
        case CMARK_NODE_CODE_BLOCK:
            let info = cmark_node_get_fence_info(node).map { String(cString: $0) } ?? ""
            return .code(language: info.split(separator: " ").first.map(String.init) ?? "", literal())
        case CMARK_NODE_THEMATIC_BREAK: return .rule
        case CMARK_NODE_TEXT: return .text(literal())
        case CMARK_NODE_SOFTBREAK: return .softBreak
        case CMARK_NODE_LINEBREAK: return .lineBreak
        case CMARK_NODE_CODE: return .codeSpan(literal())
        case CMARK_NODE_EMPH: return .emphasis(inside())
        case CMARK_NODE_STRONG: return .strong(inside())
        case CMARK_NODE_LINK: return .link(url(node), inside())
        case CMARK_NODE_IMAGE: return .image(url(node), inside())
        case CMARK_NODE_FOOTNOTE_REFERENCE: return .footnoteReference(literal())
        // Raw HTML is excluded from all formats made from the tree.
        case CMARK_NODE_HTML_BLOCK, CMARK_NODE_HTML_INLINE, CMARK_NODE_CUSTOM_BLOCK, CMARK_NODE_CUSTOM_INLINE:
            return nil
        default: break
        }
        switch name(of: node) {
        case "strikethrough": return .strike(inside())
        case "tasklist": return .item(isDone: cmark_gfm_extensions_get_tasklist_item_checked(node), inside())
        case "table": return .table(rows(of: node, depth: depth))
        default: return nil
        }
    }

    private static func rows(of table: OpaquePointer, depth: Int) -> [[[MarkdownNode]]] {
        var rows: [[[MarkdownNode]]] = []
        var next = cmark_node_first_child(table)
        while let row = next {
            var cells: [[MarkdownNode]] = []
            var cell = cmark_node_first_child(row)
            while let found = cell {
                cells.append(children(of: found, depth: depth + 2))
                cell = cmark_node_next(found)
            }
            rows.append(cells)
            next = cmark_node_next(row)
        }
        return rows
    }

    private static func name(of node: OpaquePointer) -> String {
        cmark_node_get_type_string(node).map { String(cString: $0) } ?? ""
    }

    private static func url(_ node: OpaquePointer) -> String {
        cmark_node_get_url(node).map { String(cString: $0) } ?? ""
    }

    /// The text in a node at any depth, without recursion.
    private static func plain(_ node: OpaquePointer) -> String {
        guard let iterator = cmark_iter_new(node) else { return "" }
        defer { cmark_iter_free(iterator) }
        var text = ""
        while cmark_iter_next(iterator) != CMARK_EVENT_DONE {
            guard let found = cmark_iter_get_node(iterator) else { continue }
            switch cmark_node_get_type(found) {
            case CMARK_NODE_TEXT, CMARK_NODE_CODE, CMARK_NODE_CODE_BLOCK:
                text += cmark_node_get_literal(found).map { String(cString: $0) } ?? ""
            case CMARK_NODE_SOFTBREAK, CMARK_NODE_LINEBREAK: text += " "
            default: break
            }
        }
        return text
    }

    /// The words of inline nodes, without their markup.
    package static func words(_ nodes: [MarkdownNode]) -> String {
        nodes.map { node in
            switch node {
            case .text(let text), .codeSpan(let text): text
            case .softBreak: " "
            case .lineBreak: "\n"
            case .emphasis(let inside), .strong(let inside), .strike(let inside), .link(_, let inside),
                .image(_, let inside):
                words(inside)
            case .footnoteReference(let label): "[\(label)]"
            default: ""
            }
        }.joined()
    }
}
