import CCmarkGfm

/// The blocks of a text in CommonMark and GFM, regardless of its format: their kinds, nesting and order. Two texts of
/// equal structure differ only in words within lines.
struct BlockStructure: Equatable {
    private var blocks: [String] = []

    private static let isRegistered: Bool = {
        cmark_gfm_core_extensions_ensure_registered()
        return true
    }()

    init(_ text: String) {
        guard Self.isRegistered, let parser = cmark_parser_new(CMARK_OPT_DEFAULT | CMARK_OPT_FOOTNOTES) else { return }
        defer { cmark_parser_free(parser) }
        // The other extensions change cmark's global tables while parsing (see ``MarkdownBlocks``).
        if let table = cmark_find_syntax_extension("table") { cmark_parser_attach_syntax_extension(parser, table) }
        Array(text.utf8).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            cmark_parser_feed(parser, start.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard let document = cmark_parser_finish(parser) else { return }
        defer { cmark_node_free(document) }
        // Not recursive: a text may nest quotations without limit.
        guard let walk = cmark_iter_new(document) else { return }
        defer { cmark_iter_free(walk) }
        while case let event = cmark_iter_next(walk), event != CMARK_EVENT_DONE {
            guard let node = cmark_iter_get_node(walk) else { continue }
            let type = cmark_node_get_type(node)
            guard type.rawValue & UInt32(CMARK_NODE_TYPE_MASK) == UInt32(CMARK_NODE_TYPE_BLOCK) else { continue }
            let level = type == CMARK_NODE_HEADING ? cmark_node_get_heading_level(node) : 0
            let list = type == CMARK_NODE_LIST ? cmark_node_get_list_type(node).rawValue : 0
            let edge = event == CMARK_EVENT_ENTER ? "+" : "-"
            blocks.append("\(edge)\(String(cString: cmark_node_get_type_string(node))) \(level) \(list)")
        }
    }
}

/// What no proposal may add: characters that nobody sees, and ASCII punctuation except that of ordinary prose.
enum AddedMarks {
    private static let ofProse = Set(".,;:?!'\"()-/".unicodeScalars)

    /// Whether `new` has more of any such character than `old`.
    static func are(in new: some Sequence<Unicode.Scalar>, since old: some Sequence<Unicode.Scalar>) -> Bool {
        let before = counts(old)
        return counts(new).contains { $0.value > before[$0.key, default: 0] }
    }

    private static func counts(_ text: some Sequence<Unicode.Scalar>) -> [Unicode.Scalar: Int] {
        var counts: [Unicode.Scalar: Int] = [:]
        var last: Unicode.Scalar = " "
        for scalar in text {
            let isLetterOrDigit = scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            // A percentage.
            let isPerCent = scalar == "%" && ("0"..."9").contains(last)
            if scalar.isUnseen { counts[scalar, default: 0] += 1 }
            if (0x21..<0x7F).contains(scalar.value), !isLetterOrDigit, !ofProse.contains(scalar), !isPerCent {
                counts[scalar, default: 0] += 1
            }
            if scalar != " " { last = scalar }
        }
        return counts
    }
}

extension Unicode.Scalar {
    /// Whether it has no width or ends a line unseen: zero-width spaces and joiners, marks of direction, controls.
    var isUnseen: Bool {
        if properties.isDefaultIgnorableCodePoint { return true }
        switch properties.generalCategory {
        case .format, .lineSeparator, .paragraphSeparator: return true
        case .control: return self != "\n" && self != "\r" && self != "\t"
        default: return false
        }
    }
}
