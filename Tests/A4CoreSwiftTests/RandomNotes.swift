import A4CoreSwift
import Foundation
import TestSupport

/// Notes and blocks made of difficult pieces: front matter, fences, headings, blank lines, Unicode, and all three line
/// endings.
struct RandomNotes {
    private var generator: SeededGenerator
    private static let headings = ["Journal", "journal", "Focus", "Überblick", "C #", "日本"]
    private static let lines = [
        "", "", "", "Text.", "# Day", "# ", "## Journal", "## JOURNAL ##", "  ## Focus", "    ## Focus", "##",
        "### Sub", "```",
        "```swift", "````", "~~~", "   ", "- item", "^jrnl-0812", "^focus-0930__mac words", "^nothing", "---",
        "grüße 🙂", "naïve",
        "e\u{301}", "## U\u{308}berblick", "\t## Focus", "> ## Focus", "`` ` ``", "日本語",
    ]

    init(_ test: String) { generator = SeededGenerator(for: test) }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func note() -> Data {
        var note = ""
        if number(0..<3) == 0 {
            note += "---\n"
            for _ in 0..<number(0..<4) { note += line() + ending() }
            if number(0..<4) > 0 { note += "\n---\n" }
        }
        let mixed = number(0..<3) == 0
        for _ in 0..<number(0..<25) { note += line() + (mixed ? ending() : "\n") }
        if number(0..<2) == 0 { note += line() }
        return Data(note.utf8)
    }

    /// - Parameter plain: content without fences, headings, anchors and blank lines, so that it reads back as written.
    mutating func block(_ index: Int, _ placement: Placement?, plain: Bool = false) throws -> AppendOptions {
        var content = plain ? "entry \(index)" : ""
        for _ in 0..<number(0..<4) { content += plain ? "\nmore grüße 🙂" : line() + ending() }
        if !plain, number(0..<2) == 0 { content += line() }
        let token = try AnchorToken(prefix: "rnd", hhmm: "1200", suffix: "n\(index)")
        return AppendOptions(
            heading: Self.headings[number(0..<Self.headings.count)], anchor: token, content: Data(content.utf8),
            placement: placement ?? (number(0..<2) == 0 ? .endOfFile : .endOfSection))
    }

    private mutating func line() -> String { Self.lines[number(0..<Self.lines.count)] }

    private mutating func ending() -> String { ["\n", "\n", "\r\n", "\r"][number(0..<4)] }
}

/// The note as a writer must leave it by the contract: front matter unchanged, LF, a newline at the end.
func normalized(_ note: Data) -> Data {
    let split = Notes.splitFrontMatter(note)
    var body: [UInt8] = []
    for byte in split.body {
        if byte == UInt8(ascii: "\r") {
            body.append(UInt8(ascii: "\r"))
        } else if byte == UInt8(ascii: "\n"), body.last == UInt8(ascii: "\r") {
            body[body.count - 1] = UInt8(ascii: "\n")
        } else {
            body.append(byte)
        }
    }
    body = body.map { $0 == UInt8(ascii: "\r") ? UInt8(ascii: "\n") : $0 }
    if let last = body.last, last != UInt8(ascii: "\n") { body.append(UInt8(ascii: "\n")) }
    return (split.header ?? Data()) + Data(body)
}
