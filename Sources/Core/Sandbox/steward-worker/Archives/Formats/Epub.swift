import Sandbox

/// The documents of an EPUB that determine which pictures are its pages, and in which order.
enum Epub {
    /// Identifies an EPUB.
    static let container = Array("META-INF/container.xml".utf8)
    static let encryption = Array("META-INF/encryption.xml".utf8)

    /// One item of the spine.
    enum SpineItem: Hashable {
        case picture([UInt8])
        /// XHTML or SVG that shows pictures.
        case document([UInt8])
    }

    /// The path of the first package document in `container.xml`.
    static func package(_ container: [UInt8]) throws(XMLTree.Problem) -> [UInt8]? {
        let files = try XMLTree.parse(container, as: .xhtml).first("rootfiles")?.all("rootfile") ?? []
        return files.lazy.compactMap { $0.attributes["full-path"] }.first.flatMap { resolve($0, from: []) }
    }

    /// The spine of a package document, without references that lead out of the file.
    ///
    /// - Parameter path: the document's path; references are relative to it.
    static func spine(_ package: [UInt8], at path: [UInt8]) throws(XMLTree.Problem) -> [SpineItem] {
        let tree = try XMLTree.parse(package, as: .xhtml)
        var items: [String: SpineItem] = [:]
        for item in tree.first("manifest")?.all("item") ?? [] {
            guard let id = item.attributes["id"], let href = item.attributes["href"],
                let target = resolve(href, from: path)
            else { continue }
            let type = item.attributes["media-type"]?.lowercased() ?? ""
            let isPicture = type.hasPrefix("image/") && !type.hasPrefix("image/svg")
            items[id] = isPicture ? .picture(target) : .document(target)
        }
        return (tree.first("spine")?.all("itemref") ?? []).compactMap { $0.attributes["idref"].flatMap { items[$0] } }
    }

    /// The pictures shown by a document of the spine, in order.
    static func pictures(_ document: [UInt8], at path: [UInt8]) throws(XMLTree.Problem) -> [[UInt8]] {
        var found: [[UInt8]] = []
        func walk(_ element: XMLTree) {
            let reference =
                switch element.name.lowercased() {
                case "img": element.attributes["src"]
                case "image": element.attributes["href"]
                default: String?.none
                }
            if let target = reference.flatMap({ resolve($0, from: path) }) { found.append(target) }
            element.children.forEach(walk)
        }
        walk(try XMLTree.parse(document, as: .xhtml))
        return found
    }

    /// The paths that `encryption.xml` lists as encrypted. Includes fonts, which are often only obfuscated.
    static func encrypted(_ encryption: [UInt8]) throws(XMLTree.Problem) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for data in try XMLTree.parse(encryption, as: .xhtml).all("EncryptedData") {
            let reference = data.first("CipherData")?.first("CipherReference")?.attributes["URI"]
            if let target = reference.flatMap({ resolve($0, from: []) }) { found.insert(target) }
        }
        return found
    }

    /// The entry that a reference points to, as named in the archive: percent-decoded, with `.` and `..` resolved.
    ///
    /// - Parameter base: the path of the document with the reference.
    /// - Returns: nil if it points outside the archive or nowhere.
    static func resolve(_ reference: String, from base: [UInt8]) -> [UInt8]? {
        let text = trimmed(reference).utf8.prefix { $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "?") }
        let slash = UInt8(ascii: "/")
        // A colon before the first slash ends a scheme.
        guard !text.isEmpty, !text.prefix(while: { $0 != slash }).contains(UInt8(ascii: ":")) else { return nil }
        var parts: [ArraySlice<UInt8>] = text.first == slash ? [] : base.split(separator: slash).dropLast()
        for part in unescape(text).split(separator: slash) {
            if part.elementsEqual("..".utf8) {
                if parts.popLast() == nil { return nil }
            } else if !part.elementsEqual(".".utf8) {
                parts.append(part)
            }
        }
        return parts.isEmpty ? nil : Array(parts.joined(separator: [slash]))
    }

    private static func unescape(_ text: some Collection<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                out.append(value)
                rest = rest.dropFirst(2)
            } else {
                out.append(byte)
            }
        }
        return out
    }
}
