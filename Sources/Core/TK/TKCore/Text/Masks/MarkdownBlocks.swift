import CCmarkGfm

/// A block of a Markdown document, by lines; the masker handles the content of the lines.
struct MarkdownBlock {
    enum Kind {
        case paragraph, heading, code, html, quotation, table
    }

    var kind: Kind
    /// Counted from 0, inclusive.
    var lines: ClosedRange<Int>
    /// UTF-8 bytes of the first line before the block.
    var indent: Int
    /// The number of `>` before each line.
    var quoteDepth: Int
    /// Within a quotation that is not a callout.
    var isQuoted: Bool
    var isTopLevel: Bool
}

/// The blocks of a document as parsed by cmark-gfm.
struct MarkdownBlocks {
    /// In text order; a quotation comes before its content.
    private(set) var blocks: [MarkdownBlock] = []
    /// The line ranges of the document's top-level blocks, in order.
    private(set) var topLevel: [ClosedRange<Int>] = []

    /// cmark's registry is global; this runs once across all threads.
    private static let isRegistered: Bool = {
        cmark_gfm_core_extensions_ensure_registered()
        return true
    }()

    /// - Parameter isCallout: whether a quotation that starts in a line is a callout such as `> [!NOTE]`: the author's
    ///   own words.
    init(_ utf8: [UInt8], isCallout: (Int) -> Bool) {
        guard Self.isRegistered, let parser = cmark_parser_new(CMARK_OPT_DEFAULT | CMARK_OPT_FOOTNOTES) else { return }
        defer { cmark_parser_free(parser) }
        // The other extensions change cmark's global tables while parsing, so they are not used.
        if let table = cmark_find_syntax_extension("table") { cmark_parser_attach_syntax_extension(parser, table) }
        utf8.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            cmark_parser_feed(parser, start.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let document = cmark_parser_finish(parser) else { return }
        defer { cmark_node_free(document) }
        walk(document, isCallout)
    }

    private struct Visit {
        var node: OpaquePointer
        var quoteDepth: Int
        var isQuoted: Bool
        var depth: Int
    }

    private mutating func walk(_ document: OpaquePointer, _ isCallout: (Int) -> Bool) {
        var stack: [Visit] = []
        var next = cmark_node_last_child(document)
        while let node = next {
            stack.append(Visit(node: node, quoteDepth: 0, isQuoted: false, depth: 1))
            next = cmark_node_previous(node)
        }
        while let visit = stack.popLast() {
            let start = Int(cmark_node_get_start_line(visit.node)) - 1
            let lines = start...max(start, Int(cmark_node_get_end_line(visit.node)) - 1)
            guard start >= 0 else { continue }
            if visit.depth == 1 { topLevel.append(lines) }
            var inside = visit
            inside.depth += 1
            let kind: MarkdownBlock.Kind?
            var descends = false
            switch cmark_node_get_type(visit.node) {
            case CMARK_NODE_PARAGRAPH: kind = .paragraph
            case CMARK_NODE_HEADING: kind = .heading
            case CMARK_NODE_CODE_BLOCK: kind = .code
            case CMARK_NODE_HTML_BLOCK: kind = .html
            case CMARK_NODE_BLOCK_QUOTE:
                inside.quoteDepth += 1
                inside.isQuoted = visit.isQuoted || !isCallout(start)
                // The outermost quotation covers nested ones: each line is painted once, at any depth.
                kind = inside.isQuoted && !visit.isQuoted ? .quotation : nil
                descends = true
            case CMARK_NODE_LIST, CMARK_NODE_ITEM, CMARK_NODE_FOOTNOTE_DEFINITION:
                kind = nil
                descends = true
            case CMARK_NODE_THEMATIC_BREAK: kind = nil
            default:
                kind = String(cString: cmark_node_get_type_string(visit.node)) == "table" ? .table : nil
            }
            if let kind {
                blocks.append(
                    MarkdownBlock(
                        kind: kind, lines: lines, indent: max(0, Int(cmark_node_get_start_column(visit.node)) - 1),
                        quoteDepth: kind == .quotation ? visit.quoteDepth : inside.quoteDepth,
                        isQuoted: inside.isQuoted,
                        isTopLevel: visit.depth == 1))
            }
            guard descends else { continue }
            var child = cmark_node_last_child(visit.node)
            while let node = child {
                inside.node = node
                stack.append(inside)
                child = cmark_node_previous(node)
            }
        }
        // Footnotes are at the end of the tree, regardless of their place in the text.
        blocks.sort { ($0.lines.lowerBound, $0.indent) < ($1.lines.lowerBound, $1.indent) }
        topLevel.sort { $0.lowerBound < $1.lowerBound }
    }
}
