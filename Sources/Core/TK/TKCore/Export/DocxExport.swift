import Platform

/// A draft as a minimal WordprocessingML document (ECMA-376): styles by name, so that the receiver's own template
/// determines the look.
package struct DocxExport {
    /// The first number of each list; nil for one without numbers.
    private var numberings: [Int?] = []
    private var links: [String] = []
    private var body = ""

    private init() {}

    package static func bytes(_ draft: DraftExport) -> [UInt8] {
        var export = DocxExport()
        if case .document(let nodes) = MarkdownNode(draft.markdown) { export.blocks(nodes, Place()) }
        var files: [(name: String, bytes: [UInt8])] = []
        func add(_ name: String, _ xml: String) {
            files.append((name, Array(("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + xml).utf8)))
        }
        add("[Content_Types].xml", DocxParts.contentTypes)
        add("_rels/.rels", DocxParts.relationships)
        add("docProps/core.xml", DocxParts.properties(title: escaped(draft.title)))
        add("word/document.xml", DocxParts.document(export.body))
        add("word/styles.xml", DocxParts.styles)
        add("word/numbering.xml", DocxParts.numbering(export.numberings))
        add("word/_rels/document.xml.rels", DocxParts.documentRelationships(export.links.map(escaped)))
        return ZipWriter.archive(files)
    }

    /// The context of a block.
    private struct Place {
        var style: String?
        /// A list's number, level, and whether its marker is still to be written.
        var list: (number: Int, level: Int, isFirst: Bool)?
        var prefix = ""
    }

    private mutating func blocks(_ nodes: [MarkdownNode], _ place: Place) {
        var place = place
        for node in nodes {
            block(node, place)
            place.list?.isFirst = false
            place.prefix = ""
        }
    }

    private mutating func block(_ node: MarkdownNode, _ place: Place) {
        switch node {
        case .document(let inside): blocks(inside, place)
        case .paragraph(let inside): paragraph(run(inside, []), place)
        case .heading(let level, let inside):
            var place = place
            place.style = "Heading\(level)"
            paragraph(run(inside, []), place)
        case .quotation(let inside):
            var place = place
            place.style = "Quote"
            blocks(inside, place)
        case .code(_, let text):
            var place = place
            place.style = "SourceCode"
            let lines = (text.hasSuffix("\n") ? String(text.dropLast()) : text).split(
                separator: "\n", omittingEmptySubsequences: false)
            paragraph(lines.map { Self.run(String($0), []) }.joined(separator: "<w:r><w:br/></w:r>"), place)
        case .rule:
            body +=
                "<w:p><w:pPr><w:pBdr><w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"1\" w:color=\"auto\"/></w:pBdr>"
            body += "</w:pPr></w:p>"
        case .list(let start, _, let items):
            numberings.append(start)
            let level = place.list.map { min($0.level + 1, 8) } ?? 0
            for item in items {
                guard case .item(let isDone, let inside) = item else { continue }
                var own = place
                own.list = (numberings.count, level, true)
                own.prefix = isDone.map { $0 ? "☑ " : "☐ " } ?? ""
                inside.isEmpty ? paragraph("", own) : blocks(inside, own)
            }
        case .table(let rows): table(rows)
        case .footnote(let label, let inside):
            var place = place
            place.prefix = "[\(label)] "
            blocks(inside, place)
        default: paragraph(run([node], []), place)
        }
    }

    private mutating func paragraph(_ runs: String, _ place: Place) {
        var properties = ""
        if let style = place.style { properties += "<w:pStyle w:val=\"\(style)\"/>" }
        if let list = place.list {
            if list.isFirst {
                properties += "<w:numPr><w:ilvl w:val=\"\(list.level)\"/><w:numId w:val=\"\(list.number)\"/></w:numPr>"
            } else {
                properties += "<w:ind w:left=\"\(720 * (list.level + 1))\"/>"
            }
        }
        body += "<w:p>" + (properties.isEmpty ? "" : "<w:pPr>\(properties)</w:pPr>")
        body += (place.prefix.isEmpty ? "" : Self.run(place.prefix, [])) + runs + "</w:p>"
    }

    private mutating func table(_ rows: [[[MarkdownNode]]]) {
        let columns = rows.map(\.count).max() ?? 0
        guard columns > 0 else { return }
        body +=
            "<w:tbl><w:tblPr><w:tblStyle w:val=\"TableGrid\"/><w:tblW w:w=\"0\" w:type=\"auto\"/></w:tblPr><w:tblGrid>"
        body += String(repeating: "<w:gridCol w:w=\"\(9000 / columns)\"/>", count: columns) + "</w:tblGrid>"
        for (index, row) in rows.enumerated() {
            body += "<w:tr>" + (index == 0 ? "<w:trPr><w:tblHeader/></w:trPr>" : "")
            for column in 0..<columns {
                body += "<w:tc><w:tcPr><w:tcW w:w=\"0\" w:type=\"auto\"/></w:tcPr>"
                paragraph(column < row.count ? run(row[column], index == 0 ? [.bold] : []) : "", Place())
                body += "</w:tc>"
            }
            body += "</w:tr>"
        }
        // A table must not be the last element of a cell or a document.
        body += "</w:tbl><w:p/>"
    }

    // MARK: Runs

    /// In the order that the schema requires; a run has one character style.
    private enum Mark: CaseIterable { case code, link, bold, italic, strike }

    private mutating func run(_ nodes: [MarkdownNode], _ marks: Set<Mark>) -> String {
        var out = ""
        for node in nodes {
            switch node {
            case .text(let text): out += Self.run(text, marks)
            case .softBreak: out += Self.run(" ", marks)
            case .lineBreak: out += "<w:r><w:br/></w:r>"
            case .codeSpan(let text): out += Self.run(text, marks.union([.code]))
            case .emphasis(let inside): out += run(inside, marks.union([.italic]))
            case .strong(let inside): out += run(inside, marks.union([.bold]))
            case .strike(let inside): out += run(inside, marks.union([.strike]))
            case .link(let url, let inside): out += link(url, inside, marks)
            case .image(let url, let inside):
                let words = MarkdownNode.words(inside)
                out += Self.run("[\(words.isEmpty ? url : words)]", marks.union([.italic]))
            case .footnoteReference(let label): out += Self.run("[\(label)]", marks)
            default: out += Self.run(MarkdownNode.words([node]), marks)
            }
        }
        return out
    }

    private mutating func link(_ url: String, _ inside: [MarkdownNode], _ marks: Set<Mark>) -> String {
        let isSafe = ["http://", "https://", "mailto:"].contains { url.lowercased().hasPrefix($0) }
        guard isSafe, !marks.contains(.link) else { return run(inside, marks) }
        links.append(url)
        let id = links.count
        return "<w:hyperlink r:id=\"link\(id)\">\(run(inside, marks.union([.link])))</w:hyperlink>"
    }

    private static func run(_ text: String, _ marks: Set<Mark>) -> String {
        guard !text.isEmpty else { return "" }
        let properties = Mark.allCases.filter(marks.contains).map { mark in
            switch mark {
            case .code: "<w:rStyle w:val=\"VerbatimChar\"/>"
            case .link: marks.contains(.code) ? "" : "<w:rStyle w:val=\"Hyperlink\"/>"
            case .bold: "<w:b/>"
            case .italic: "<w:i/>"
            case .strike: "<w:strike/>"
            }
        }.joined()
        return "<w:r>" + (properties.isEmpty ? "" : "<w:rPr>\(properties)</w:rPr>")
            + text.split(separator: "\t", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "<w:t xml:space=\"preserve\">\(escaped(String($0)))</w:t>" }
            .joined(separator: "<w:tab/>") + "</w:r>"
    }

    /// For XML 1.0, which does not allow most control characters.
    static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "\n", "\t": out.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: out += "\u{FFFD}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
