import Platform

/// The items that `for-each` iterates over.
enum RepeatedItems: String, Sendable, CaseIterable {
    case lines, pages

    struct Item: Sendable, Equatable {
        /// One-based, as in an editor; skipped lines count.
        let number: Int
        let text: String
    }

    /// The additional values available to steps.
    var values: [ValueSpec] {
        switch self {
        case .lines:
            [
                ValueSpec("line", "In `for-each: { of: lines }`: the line, without its end."),
                ValueSpec("line.number", "In `for-each: { of: lines }`: its number, from 1; blank lines count."),
            ]
        case .pages:
            [
                ValueSpec("page.text", "In `for-each: { of: pages }`: the page's text; empty for a scan."),
                ValueSpec("page.number", "In `for-each: { of: pages }`: its number, from 1."),
            ]
        }
    }

    /// The `line` in `line 7`.
    var word: String {
        switch self {
        case .lines: "line"
        case .pages: "page"
        }
    }

    func values(of item: Item) -> Values {
        switch self {
        case .lines: ["line": .text(item.text), "line.number": .integer(item.number)]
        case .pages: ["page.text": .text(item.text), "page.number": .integer(item.number)]
        }
    }

    /// The items of a file. Blocks.
    ///
    /// - Throws: `Fault(.refused)` if the file has none or too many, `.failed` if it could not be read, `.transient`
    ///   if it cannot be read now.
    func all(in facts: FileFacts, skipping skipped: Int, most: Int) throws -> [Item] {
        let path = facts.absolute
        guard let found = try facts.findings(.document) else {
            throw Fault(.refused, "\(path) has no \(rawValue) to go through: it is no document", path: path)
        }
        if let trouble = found.trouble {
            throw Fault(
                .failed, "the \(rawValue) of \(path) could not be read: \(trouble); then `steward reprocess` it",
                path: path)
        }
        guard let text = found.text else {
            throw Fault(.refused, "\(path) has no \(rawValue) to go through: it is no text", path: path)
        }
        guard !found.isCut else {
            let limit = FileFacts.textLimit >> 20
            throw Fault(
                .refused, "\(path) has more than \(limit) MiB of text, which is more than `for-each` goes through",
                path: path)
        }
        let all: [Item]
        switch self {
        case .lines: all = Self.lines(of: text)
        case .pages:
            guard let pages = found.pages else {
                throw Fault(.refused, "\(path) has no pages to go through: it is no PDF", path: path)
            }
            all = pages.enumerated().map { Item(number: $0.offset + 1, text: $0.element) }
        }
        let wanted = all.drop { $0.number <= skipped }
        guard wanted.count <= most else {
            throw Fault(
                .refused,
                "\(path) has \(wanted.count) \(rawValue), and `for-each` takes \(most); `most` may say otherwise, up to "
                    + "\(ForEach.mostItems)", path: path)
        }
        return Array(wanted)
    }

    /// The lines that are not blank, without line endings.
    static func lines(of text: String) -> [Item] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated().compactMap {
            number, bytes in
            var line = Substring(bytes)
            if number == 0, line.unicodeScalars.first == "\u{FEFF}" { line.unicodeScalars.removeFirst() }
            if line.utf8.last == UInt8(ascii: "\r") { line = Substring(line.utf8.dropLast()) }
            return line.allSatisfy(\.isWhitespace) ? nil : Item(number: number + 1, text: String(line))
        }
    }
}
