import A4CoreSwift
import Foundation
import Testing

@Suite("Front matter")
struct FrontMatterTests {
    @Test(
        "Front matter is cut off with both fences, and joining gives the same bytes",
        arguments: [
            ("---\nk: v\n---\nBody", "---\nk: v\n---\n"),
            ("---\na: 1\nb:\r\n  c\n\n---\n", "---\na: 1\nb:\r\n  c\n\n---\n"),
            ("---\nk: v\n---\n\n---\nmore\n---\n", "---\nk: v\n---\n"), ("---\n---\nBody\n", "---\n---\n"),
            ("---\nk: --- \n ---\n--- \n----\n---\nx", "---\nk: --- \n ---\n--- \n----\n---\n"),
        ])
    func present(_ note: String, _ header: String) {
        let split = Notes.splitFrontMatter(Data(note.utf8))
        #expect(split.header.map(text) == header)
        #expect(text(split.body) == String(decoding: note.utf8.dropFirst(header.utf8.count), as: UTF8.self))
        #expect(text(Notes.joinFrontMatter(header: split.header, body: split.body)) == note)
    }

    @Test(
        "Anything not exactly fenced belongs to the body",
        arguments: [
            "", "---", "---\n", "Body\n---\nx\n---\n", "---\nk: v\n---", "---\r\nk: v\r\n---\r\n", "--- \nk\n---\n",
            "---\nk: v\n",
            "\n---\nk\n---\n", "---\nk\r---\r",
        ])
    func absent(_ note: String) {
        let split = Notes.splitFrontMatter(Data(note.utf8))
        #expect(split == .none(body: Data(note.utf8)))
        #expect(text(Notes.joinFrontMatter(header: split.header, body: split.body)) == note)
    }

    @Test("Bytes that are not UTF-8 and slices are split alike")
    func rawBytes() {
        let note = Data([0xFF]) + Data("---\n".utf8) + Data([0xFE]) + Data("\n---\n".utf8) + Data([0xFD])
        let split = Notes.splitFrontMatter(note.dropFirst())
        #expect(split.body == Data([0xFD]))
        #expect(Notes.joinFrontMatter(header: split.header, body: split.body) == note.dropFirst())
    }
}

@Suite("Headings")
struct HeadingTests {
    private func ensured(_ note: String, _ heading: String) throws -> String {
        text(try Headings.ensureH2(textBytes: Data(note.utf8), heading: heading))
    }

    @Test(
        "A missing H2 is appended exactly",
        arguments: ["", "Text.\n", "Text.", "# Journal\n", "### Journal\n", "a\r\n"])
    func missing(_ note: String) throws {
        #expect(try ensured(note, "Journal") == note + "\n## Journal\n\n")
    }

    @Test(
        "A heading is found in every spelling CommonMark allows",
        arguments: [
            "## Journal", "## journal\nx", "   ##   JOURNAL  \n", "##\tJournal ##\n", "## Journal #########  \n",
            "# Day\r\n## Journal\r\nx", "a\r## Journal\rb", "```\n```\n## Journal\n", "    ```\n## Journal\n",
            "``` `x`\n## Journal\n",
        ])
    func present(_ note: String) throws {
        #expect(try ensured(note, "Journal") == note)
    }

    @Test(
        "Not found anywhere else",
        arguments: [
            "    ## Journal\n", "##Journal\n", "## Journal#\n", "## Journal notes\n", "### Journal\n", "\\## Journal\n",
            "> ## Journal\n",
            "```\n## Journal\n```\n", "~~~~\n~~~\n```\n## Journal\n", "````\n```\n## Journal\n",
            "```\n``` x\n## Journal\n",
            "   ~~~ `a`\n## Journal\n", "---\n## Journal\n---\n", "Journal\n---\n",
        ])
    func absent(_ note: String) throws {
        #expect(try ensured(note, "Journal") == note + "\n## Journal\n\n")
    }

    @Test(
        "An inserted heading is found again",
        arguments: ["Journal", " Journal ", "C #", "C#", "Ünïcode ß", "# x", "a\tb", "日本"])
    func insertedIsFound(_ heading: String) throws {
        let once = try ensured("", heading)
        #expect(once == "\n## \(heading)\n\n")
        #expect(try ensured(once, heading) == once)
    }

    @Test("Letters match regardless of Unicode composition")
    func composition() throws {
        #expect(try ensured("## U\u{308}berblick\n", "überblick") == "## U\u{308}berblick\n")
    }

    @Test(
        "A heading without text or with several lines is rejected",
        arguments: ["", "  ", "#", "a\nb", "a\n", "a\r## b"])
    func refused(_ heading: String) {
        #expect(throws: A4Error.self) { try Headings.ensureH2(textBytes: Data(), heading: heading) }
    }

    @Test("A note that is not UTF-8 is rejected, and the message says where")
    func notUTF8() {
        let error = #expect(throws: A4Error.self) {
            try Headings.ensureH2(textBytes: Data("aé".utf8) + Data([0xC3, 0x28]), heading: "Journal")
        }
        #expect(error?.description.contains("number 3") == true)
    }
}
