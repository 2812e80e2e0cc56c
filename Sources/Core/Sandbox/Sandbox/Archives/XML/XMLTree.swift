import Platform

/// A small XML document as a tree, read without a DTD, custom entities, or external content.
///
/// Written from scratch because its input comes from hostile archives: metadata, read in the agent itself, and the
/// documents of an EPUB, read in the worker. Swift checks the bounds, and unneeded features (DTDs, external entities,
/// namespace semantics) do not exist, so they cannot be abused.
package struct XMLTree: Sendable, Equatable {
    /// Without a namespace prefix.
    package let name: String
    package let attributes: [String: String]
    package private(set) var children: [XMLTree] = []
    /// Its own character data, without that of its children.
    private(set) var ownText = ""

    /// In bytes; ComicInfo files have a few kilobytes.
    package static let sizeLimit = 1 << 20
    static let depthLimit = 32
    static let elementLimit = 20_000

    /// Which constructs are accepted.
    package enum Dialect {
        /// No document type declaration.
        case plain
        /// Skips a document type declaration without definitions of its own. An entity that XML does not define is no
        /// error, and expands to nothing.
        case xhtml
    }

    /// Why a document was not read.
    package enum Problem: Error, Equatable {
        case tooLarge, tooDeep, tooManyElements, documentType, unknownEntity(String), encoding
        case malformed(String, offset: Int)
        case unfinished(element: String)

        package var reason: String {
            switch self {
            case .tooLarge: "it is larger than \(sizeLimit >> 20) MiB"
            case .tooDeep: "its elements are nested deeper than \(depthLimit)"
            case .tooManyElements: "it has more than \(elementLimit) elements"
            case .documentType: "it has a DOCTYPE, which is refused unread"
            case .unknownEntity(let name): "it uses the entity &\(Self.shown(name));, which XML does not define"
            case .encoding: "its text is neither UTF-8, UTF-16 nor ISO 8859-1"
            case .malformed(let what, let offset): "\(what) at character \(offset)"
            case .unfinished(let name): "it ends with `\(Self.shown(name))` still open"
            }
        }

        /// A name from the document, for people: shortened, and safe on a terminal.
        private static func shown(_ name: String) -> String {
            BytePath.escape(Array(String(String.UnicodeScalarView(name.unicodeScalars.prefix(40))).utf8))
        }
    }

    init(name: String, attributes: [String: String]) {
        self.name = name
        self.attributes = attributes
    }

    mutating func append(_ child: XMLTree) { children.append(child) }
    mutating func append(text: String) { ownText += text }

    /// Trimmed; empty if there is only white space.
    package var text: String { trimmed(ownText) }

    package func first(_ name: String) -> XMLTree? { children.first { $0.name == name } }
    package func all(_ name: String) -> [XMLTree] { children.filter { $0.name == name } }

    /// The text of the first child of that name; nil if it is missing or empty.
    package func value(_ name: String) -> String? {
        guard let text = first(name)?.text, !text.isEmpty else { return nil }
        return text
    }

    /// Reads a document. Detects UTF-8 and UTF-16 by their byte order mark, ISO 8859-1 by the declaration.
    ///
    /// - Throws: ``Problem`` and nothing else.
    package static func parse(_ bytes: [UInt8], as dialect: Dialect = .plain) throws(Problem) -> XMLTree {
        guard bytes.count <= sizeLimit else { throw .tooLarge }
        var parser = XMLParsing(Array(try decode(bytes).unicodeScalars), dialect)
        return try parser.document()
    }

    private static func decode(_ bytes: [UInt8]) throws(Problem) -> String {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            let isLittle = bytes[0] == 0xFF
            let units = stride(from: 2, to: bytes.count - 1, by: 2).map { at in
                let (one, other) = (UInt16(bytes[at]), UInt16(bytes[at + 1]))
                return isLittle ? other << 8 | one : one << 8 | other
            }
            guard bytes.count % 2 == 0, let text = String(validating: units, as: UTF16.self) else { throw .encoding }
            return text
        }
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        if let text = String(validating: body, as: UTF8.self) { return text }
        let declaration = String(decoding: body.prefix(100), as: UTF8.self).lowercased()
        guard declaration.contains("iso-8859-1") || declaration.contains("windows-1252") else { throw .encoding }
        return String(String.UnicodeScalarView(body.map { Unicode.Scalar($0) }))
    }
}

/// Without leading and trailing white space and control characters.
package func trimmed(_ text: some StringProtocol) -> String {
    func isSpace(_ character: Character) -> Bool {
        character.isWhitespace || character.unicodeScalars.allSatisfy { $0.value < 0x20 }
    }
    guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(text[first...last])
}
