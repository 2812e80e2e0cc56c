import Platform

/// The export formats of a draft (docs/design/tk.md, "Given away").
package enum ExportFormat: String, Sendable, CaseIterable {
    case md, txt, html, docx, pdf

    /// By a file's extension.
    package static func of(_ path: BytePath) -> ExportFormat? {
        guard let suffix = path.stemAndExtension.extension.map({ String(decoding: $0, as: UTF8.self).lowercased() })
        else { return nil }
        switch suffix {
        case "markdown", "mdown": return .md
        case "text": return .txt
        case "htm": return .html
        default: return ExportFormat(rawValue: suffix)
        }
    }

    /// Whether it is unsuitable for a terminal.
    package var isBinary: Bool { self == .docx || self == .pdf }
}

/// A draft for export: its Markdown without front matter, and a title.
package struct DraftExport: Sendable {
    package let markdown: String
    package let title: String
    private let source: String

    /// - Parameters:
    ///   - title: by default the front matter's, else the first heading, else `fallbackTitle`.
    package init(_ source: String, title: String? = nil, fallbackTitle: String) {
        let plain = source.hasPrefix("\u{FEFF}") ? String(source.dropFirst()) : source
        let (front, body) = Self.split(plain)
        self.source = plain
        markdown = body
        let given = [title, FrontMatterTitle.find(in: front)].compactMap { $0 }.map(Self.oneLine)
        self.title =
            given.first { !$0.isEmpty } ?? Self.firstHeading(body).map(Self.oneLine).flatMap { $0.isEmpty ? nil : $0 }
            ?? fallbackTitle
    }

    /// A draft as Markdown for export: plain text with special characters escaped, MDX without its imports and
    /// elements.
    ///
    /// - Parameter name: the draft's, for messages.
    /// - Throws: `Fault` (`.refused`) for a format that would be misread, with a suggested converter.
    package static func markdown(of draft: DraftText, _ name: String, path: BytePath? = nil) throws -> String {
        let converter: String
        switch draft.syntax {
        case .markdown: return draft.string
        case .mdx: return MDXExport.markdown(draft)
        case .plain: return PlainMarkdown.markdown(draft.string)
        case .asciidoc: converter = "`asciidoctor`"
        case .restructuredText: converter = "`pandoc -f rst`"
        case .org: converter = "`pandoc -f org`"
        case .latex: converter = "`pandoc -f latex`"
        case .unknown: converter = "`pandoc`, if it knows the format,"
        }
        throw Fault(
            .refused,
            "\(name) is in \(draft.syntax.title), which would be exported as Markdown and come out wrong; \(converter) "
                + "converts it", path: path)
    }

    /// The draft unchanged, ending in a line break.
    package func markdownBytes() -> [UInt8] {
        Array((source.hasSuffix("\n") || source.isEmpty ? source : source + "\n").utf8)
    }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func split(_ text: String) -> (front: [String], body: String) {
        let draft = DraftText(text)
        guard let lines = FrontMatter.lines(of: draft) else { return ([], text) }
        let front = lines.dropFirst().dropLast().map { draft[draft.textRange(ofLine: $0 + 1)] }
        return (front, draft[draft.range(ofLine: lines.upperBound + 1).upperBound..<draft.count])
    }

    private static func firstHeading(_ markdown: String) -> String? {
        guard case .document(let nodes) = MarkdownNode(markdown) else { return nil }
        for node in nodes { if case .heading(_, let inside) = node { return MarkdownNode.words(inside) } }
        return nil
    }
}
