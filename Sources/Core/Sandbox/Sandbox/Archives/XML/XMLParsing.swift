/// The parser behind ``XMLTree``: one pass, an explicit stack, no recursion.
struct XMLParsing {
    private let input: [Unicode.Scalar]
    private let dialect: XMLTree.Dialect
    private var at = 0
    private var hasDocumentType = false

    init(_ input: [Unicode.Scalar], _ dialect: XMLTree.Dialect) { (self.input, self.dialect) = (input, dialect) }

    mutating func document() throws(XMLTree.Problem) -> XMLTree {
        var open: [XMLTree] = []
        var root: XMLTree?
        var elements = 0
        func close(_ element: XMLTree) {
            if let last = open.indices.last { open[last].append(element) } else { root = element }
        }
        while at < input.count {
            if consume("<!--") {
                try skip(past: "-->", "an unfinished comment")
            } else if consume("<![CDATA[") {
                let text = try skip(past: "]]>", "an unfinished CDATA section")
                guard let last = open.indices.last else { throw malformed("text outside of the document") }
                open[last].append(text: text)
            } else if consume("<?") {
                try skip(past: "?>", "an unfinished processing instruction")
            } else if consume("<!") {
                guard dialect == .xhtml, root == nil, open.isEmpty, !hasDocumentType else { throw .documentType }
                hasDocumentType = true
                try skipDocumentType()
            } else if consume("</") {
                let name = try self.name()
                skipSpace()
                guard consume(">"), let element = open.popLast(), element.name == local(name) else {
                    throw malformed("an end tag that ends nothing")
                }
                close(element)
            } else if consume("<") {
                guard root == nil else { throw malformed("a second document") }
                let (element, isEmpty) = try startTag()
                elements += 1
                guard elements <= XMLTree.elementLimit else { throw .tooManyElements }
                guard open.count < XMLTree.depthLimit else { throw .tooDeep }
                if isEmpty { close(element) } else { open.append(element) }
            } else {
                let text = try characters(until: ["<"])
                if let last = open.indices.last {
                    open[last].append(text: text)
                } else if !trimmed(text).isEmpty {
                    throw malformed("text outside of the document")
                }
            }
        }
        if let last = open.last { throw .unfinished(element: last.name) }
        guard let root else { throw malformed("no document") }
        return root
    }

    /// Skips the document type declaration unread: nothing is fetched. One with definitions of its own is refused.
    private mutating func skipDocumentType() throws(XMLTree.Problem) {
        guard consume("DOCTYPE") || consume("doctype") else { throw .documentType }
        while at < input.count {
            let scalar = input[at]
            at += 1
            if scalar == ">" { return }
            if scalar == "[" { throw .documentType }
            if scalar == "\"" || scalar == "'" { try skip(past: String(Character(scalar)), "an unfinished DOCTYPE") }
        }
        throw malformed("an unfinished DOCTYPE")
    }

    private mutating func startTag() throws(XMLTree.Problem) -> (XMLTree, isEmpty: Bool) {
        let name = try self.name()
        var attributes: [String: String] = [:]
        while true {
            skipSpace()
            if consume("/>") { return (XMLTree(name: local(name), attributes: attributes), true) }
            if consume(">") { return (XMLTree(name: local(name), attributes: attributes), false) }
            let key = try self.name()
            skipSpace()
            guard consume("=") else { throw malformed("an attribute without a value") }
            skipSpace()
            guard at < input.count, input[at] == "\"" || input[at] == "'" else {
                throw malformed("an attribute's value without quotes")
            }
            let quote = input[at]
            at += 1
            let value = try characters(until: [quote, "<"])
            guard at < input.count, input[at] == quote else { throw malformed("an unfinished value") }
            at += 1
            attributes[local(key)] = value
        }
    }

    /// Character data with references resolved, up to one of `ends` or the end of the input.
    private mutating func characters(until ends: [Unicode.Scalar]) throws(XMLTree.Problem) -> String {
        var text = String.UnicodeScalarView()
        while at < input.count, !ends.contains(input[at]) {
            if input[at] == "&" {
                text.append(try reference())
            } else {
                text.append(input[at])
                at += 1
            }
        }
        return String(text)
    }

    private mutating func reference() throws(XMLTree.Problem) -> Unicode.Scalar {
        at += 1
        guard let end = input[at...].prefix(32).firstIndex(of: ";") else { throw malformed("an unfinished reference") }
        let name = String(String.UnicodeScalarView(input[at..<end]))
        at = end + 1
        let known: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        if let scalar = known[name] { return scalar }
        let code =
            name.hasPrefix("#x")
            ? UInt32(name.dropFirst(2), radix: 16)
            : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
        guard let code, let scalar = Unicode.Scalar(code), code != 0 else {
            // XHTML names hundreds of characters (`&nbsp;`) that no path to a picture needs.
            if dialect == .xhtml, !name.isEmpty, name.unicodeScalars.allSatisfy(isNameScalar) { return "\u{FFFD}" }
            throw .unknownEntity(name)
        }
        return scalar
    }

    private mutating func name() throws(XMLTree.Problem) -> String {
        let start = at
        while at < input.count, isNameScalar(input[at]) { at += 1 }
        guard at > start else { throw malformed("a missing name") }
        return String(String.UnicodeScalarView(input[start..<at]))
    }

    private func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0x7F || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            || [":", "_", "-", "."].contains(scalar)
    }

    private func local(_ name: String) -> String {
        name.split(separator: ":").last.map(String.init) ?? name
    }

    private mutating func skipSpace() {
        while at < input.count, [" ", "\t", "\r", "\n"].contains(input[at]) { at += 1 }
    }

    private mutating func consume(_ text: String) -> Bool {
        guard input[at...].starts(with: text.unicodeScalars) else { return false }
        at += text.unicodeScalars.count
        return true
    }

    @discardableResult
    private mutating func skip(past end: String, _ what: String) throws(XMLTree.Problem) -> String {
        let start = at
        while at < input.count {
            let stop = at
            if consume(end) { return String(String.UnicodeScalarView(input[start..<stop])) }
            at += 1
        }
        throw malformed(what)
    }

    private func malformed(_ what: String) -> XMLTree.Problem { .malformed(what, offset: at) }
}
