import CXml
import Glibc
import Sandbox

/// The text of an HTML document as a reader would see it, and its title.
enum HtmlText {
    private static let options: Int32 = {
        // HTML_PARSE_RECOVER, NOERROR, NOWARNING, NONET, COMPACT, IGNORE_ENC: the document's declared encoding was
        // already applied, and finding another converter would open a file.
        1 | 1 << 5 | 1 << 6 | 1 << 11 | 1 << 16 | 1 << 21
    }()

    /// Block-level elements.
    private static let blocks: Set<String> = [
        "address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset", "figcaption",
        "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p",
        "pre", "section", "table", "td", "th", "title", "tr", "ul",
    ]
    private static let unseen: Set<String> = ["script", "style", "template", "noscript", "head"]

    /// - Parameters:
    ///   - utf8: the document.
    ///   - hasFields: whether its title and author apply to the file.
    /// - Returns: false if it is not HTML.
    @discardableResult
    static func tell(_ utf8: [UInt8], hasFields: Bool, to output: ContentOutput) -> Bool {
        let document = utf8.withUnsafeBytes { bytes in
            htmlReadMemory(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count), nil, "UTF-8",
                options)
        }
        guard let document else { return false }
        defer { xmlFreeDoc(document) }
        guard let root = xmlDocGetRootElement(document) else { return true }
        if hasFields { fields(root, output) }
        var node: xmlNodePtr? = root
        while let here = node, !output.isFull {
            let isUnseen = enter(here, output)
            if !isUnseen, let child = here.pointee.children {
                node = child
                continue
            }
            node = following(here, root) { leave($0, output) }
        }
        output.lineEnd()
        return true
    }

    /// The next node in document order that is not below `node`; calls `leave` for each element left.
    private static func following(_ node: xmlNodePtr, _ root: xmlNodePtr, _ leave: (xmlNodePtr) -> Void) -> xmlNodePtr?
    {
        var here = node
        while true {
            leave(here)
            if here == root { return nil }
            if let next = here.pointee.next { return next }
            guard let parent = here.pointee.parent else { return nil }
            here = parent
        }
    }

    private static func name(_ node: xmlNodePtr) -> String {
        node.pointee.name.map { String(cString: $0) } ?? ""
    }

    private static func isElement(_ node: xmlNodePtr) -> Bool { node.pointee.type.rawValue == 1 }

    /// - Returns: whether its contents are invisible.
    private static func enter(_ node: xmlNodePtr, _ output: ContentOutput) -> Bool {
        guard isElement(node) else {
            // Text and CDATA; comments and instructions are not text.
            if [3, 4].contains(node.pointee.type.rawValue), let content = node.pointee.content {
                output.flowing(
                    UnsafeBufferPointer<UInt8>(start: UnsafePointer(content), count: Int(xmlStrlen(content))))
            }
            // The children of an entity reference belong to the declaration.
            return true
        }
        let name = name(node)
        if blocks.contains(name) { output.lineEnd() }
        return unseen.contains(name)
    }

    private static func leave(_ node: xmlNodePtr, _ output: ContentOutput) {
        if isElement(node), blocks.contains(name(node)) { output.lineEnd() }
    }

    private static func fields(_ root: xmlNodePtr, _ output: ContentOutput) {
        var node: xmlNodePtr? = root
        var looked = 0
        while let here = node, looked < 5_000 {
            looked += 1
            if isElement(here) {
                switch name(here) {
                case "title":
                    if let text = content(here), !text.isEmpty { return author(root, title: text, output) }
                case "body": return author(root, title: nil, output)
                default: break
                }
            }
            node = here.pointee.children ?? following(here, root) { _ in }
        }
        author(root, title: nil, output)
    }

    private static func content(_ node: xmlNodePtr) -> String? {
        guard let text = node.pointee.children?.pointee.content else { return nil }
        return String(cString: text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func author(_ root: xmlNodePtr, title: String?, _ output: ContentOutput) {
        if let title { output.field(.documentTitle, title) }
        var node: xmlNodePtr? = root
        var looked = 0
        while let here = node, looked < 5_000 {
            looked += 1
            if isElement(here), name(here) == "meta", attribute(here, "name")?.lowercased() == "author",
                let found = attribute(here, "content")
            {
                return output.field(.documentAuthor, found)
            }
            node = here.pointee.children ?? following(here, root) { _ in }
        }
    }

    private static func attribute(_ node: xmlNodePtr, _ name: String) -> String? {
        guard let value = xmlGetProp(node, name) else { return nil }
        defer { free(value) }
        return String(cString: value)
    }
}
