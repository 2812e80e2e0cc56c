import CXml
import Sandbox

/// The text of documents that are a ZIP of XML: DOCX and relatives, ODT and relatives, EPUB. Parts come in ZIP order.
struct OfficeText {
    private enum Part {
        case word, openDocument, chapter
        case coreProperties, appProperties, openDocumentMeta, opfPackage
    }

    private let output: ContentOutput
    private var unpacked = 0
    private var hasText = false
    private var isCut = false
    private var isEncrypted = false
    private var entries = 0

    init(_ output: ContentOutput) { self.output = output }

    /// Reads all parts with text or metadata, then exits.
    mutating func tell(_ archive: PackedFile) -> Never {
        while !output.isFull {
            switch archive.next() {
            case .end: finish()
            case .fatal(let message): finish(message.isEmpty ? "its ZIP is damaged" : "its ZIP is damaged: \(message)")
            case .bad: continue
            case .entry(let path, let isFolder, let isClosed):
                entries += 1
                if entries > ContentLimits.entries { finish() }
                isEncrypted = isEncrypted || isClosed
                guard !isFolder, let part = Self.part(String(decoding: path, as: UTF8.self)) else { continue }
                let room = min(ContentLimits.part, ContentLimits.unpacked - unpacked)
                if room <= 0 {
                    isCut = true
                    finish()
                }
                guard let (bytes, isPartial) = archive.contents(limit: room) else { continue }
                unpacked += bytes.count
                isCut = isCut || isPartial
                read(part, bytes)
            }
        }
        finish()
    }

    private func finish(_ damage: String? = nil) -> Never {
        if hasText { output.end(isCut || damage != nil ? .cut : .complete) }
        if let damage { output.end(.unreadable, damage) }
        if isEncrypted { output.end(.unreadable, "it is encrypted") }
        output.end(.unreadable, "it is a ZIP, and no document that is read")
    }

    private static func part(_ path: String) -> Part? {
        let name = path.lowercased()
        switch name {
        case "content.xml": return .openDocument
        case "meta.xml": return .openDocumentMeta
        case "docprops/core.xml": return .coreProperties
        case "docprops/app.xml": return .appProperties
        case "xl/sharedstrings.xml": return .word
        default: break
        }
        if name.hasSuffix(".xml"),
            [
                "word/document", "word/header", "word/foot", "word/endnotes", "word/comments", "ppt/slides/slide",
                "ppt/notesslides/notesslide",
            ].contains(where: name.hasPrefix)
        {
            return .word
        }
        if name.hasSuffix(".opf") { return .opfPackage }
        return [".xhtml", ".html", ".htm"].contains(where: name.hasSuffix) ? .chapter : nil
    }

    private mutating func read(_ part: Part, _ bytes: [UInt8]) {
        guard let utf8 = TextEncoding.utf8(bytes, label: TextEncoding.declared(bytes)) else { return }
        switch part {
        case .word:
            hasText = true
            word(utf8)
        case .openDocument:
            hasText = true
            openDocument(utf8)
        case .chapter:
            hasText = true
            HtmlText.tell(utf8, hasFields: false, to: output)
        case .coreProperties, .opfPackage, .openDocumentMeta: properties(utf8)
        case .appProperties: pages(utf8)
        }
    }

    /// WordprocessingML and relatives: text is only in `t` elements, within paragraphs `p` or, in a spreadsheet, `si`.
    private func word(_ utf8: [UInt8]) {
        var depth = 0
        _ = XmlText.walk(utf8) { node, _ in
            switch node {
            case .start("t"): depth += 1
            case .end("t"): depth -= 1
            case .start("tab"): output.flowing(" ")
            case .start("br"), .end("p"), .end("si"): output.lineEnd()
            case .text(let bytes) where depth > 0: output.flowing(bytes)
            default: break
            }
            return !output.isFull
        }
        output.lineEnd()
    }

    /// OpenDocument: text is in paragraphs and headings.
    private func openDocument(_ utf8: [UInt8]) {
        var depth = 0
        _ = XmlText.walk(utf8) { node, _ in
            switch node {
            case .start("p"), .start("h"): depth += 1
            case .end("p"), .end("h"):
                depth -= 1
                output.lineEnd()
            case .start("line-break"): output.lineEnd()
            case .start("s"), .start("tab"): output.flowing(" ")
            case .text(let bytes) where depth > 0: output.flowing(bytes)
            default: break
            }
            return !output.isFull
        }
        output.lineEnd()
    }

    /// Dublin Core, used by all three; the first title and author win.
    private func properties(_ utf8: [UInt8]) {
        var found: [ContentField: String] = [:]
        var open: ContentField?
        _ = XmlText.walk(utf8) { node, reader in
            switch node {
            case .start("title"): open = found[.documentTitle] == nil ? .documentTitle : nil
            case .start("creator"), .start("initial-creator"):
                open = found[.documentAuthor] == nil ? .documentAuthor : nil
            case .start("document-statistic"):
                if let pages = XmlText.attribute("meta:page-count", reader) { output.field(.documentPages, Int(pages)) }
                open = nil
            case .start, .end: open = nil
            case .text(let bytes):
                if let open { found[open, default: ""] += String(decoding: bytes, as: UTF8.self) }
            }
            return found.values.allSatisfy { $0.utf8.count < 10_000 }
        }
        for (field, value) in found {
            output.field(field, value.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
    }

    private func pages(_ utf8: [UInt8]) {
        var isPages = false
        _ = XmlText.walk(utf8) { node, _ in
            switch node {
            case .start(let name): isPages = name == "Pages"
            case .end: isPages = false
            case .text(let bytes):
                if isPages { output.field(.documentPages, Int(String(decoding: bytes, as: UTF8.self))) }
            }
            return true
        }
    }
}

extension ContentOutput {
    func flowing(_ text: StaticString) {
        text.withUTF8Buffer { flowing($0) }
    }
}
