import A4CoreSwift
import Foundation
import Testing

@Suite("Appending")
struct AppendTests {
    @Test("On an empty note the heading and the block are framed exactly")
    func empty() throws {
        #expect(try appended("", block("jrnl-0812", "one")) == "\n## Journal\n\n^jrnl-0812\none\n")
    }

    @Test("If the heading exists, only the block is added")
    func headingExists() throws {
        #expect(try appended("## Journal\n\nx\n", block("jrnl-0812", "one")) == "## Journal\n\nx\n\n^jrnl-0812\none\n")
    }

    @Test("Two blocks keep their order, one blank line apart")
    func twice() throws {
        let note = try appended("", block("jrnl-0812", "one\n"), block("jrnl-0813", "two\r\nlines"))
        #expect(note == "\n## Journal\n\n^jrnl-0812\none\n\n^jrnl-0813\ntwo\nlines\n")
    }

    @Test("Appending no blocks leaves every byte unchanged")
    func nothing() throws {
        #expect(try appended("a\r\nb") == "a\r\nb")
    }

    @Test("Content without text becomes an empty line; its own blank lines are kept")
    func contentEdges() throws {
        #expect(try appended("## J\n", block("jj-0812", "", under: "J")) == "## J\n\n^jj-0812\n\n")
        let note = try appended("## J\n", block("jj-0812", "\na\n\n\n", under: "J"), block("jj-0813", "b", under: "J"))
        #expect(note == "## J\n\n^jj-0812\n\na\n\n\n^jj-0813\nb\n")
    }

    @Test("Headings in front matter that only exists with LF endings are ignored")
    func lateFrontMatter() throws {
        #expect(
            try appended("---\r\n## Journal\r\n---\r\nBody", block("jrnl-0812", "one"))
                == "---\n## Journal\n---\nBody\n\n## Journal\n\n^jrnl-0812\none\n")
    }

    @Test("A block that closes open front matter changes what the next one sees")
    func closingFrontMatter() throws {
        let note = try appended(
            "---\n## Journal\n", block("jrnl-0812", "a\n---\nb"), block("jrnl-0813", "c"))
        #expect(note == "---\n## Journal\n\n^jrnl-0812\na\n---\nb\n\n## Journal\n\n^jrnl-0813\nc\n")
    }

    @Test("An unclosed fence in the content swallows the headings after it")
    func openFence() throws {
        let blocks = try (0..<2).map { try block("jrnl-081\($0)", "```", .endOfSection) }
        let note = text(try Append.appending(blocks, to: Data("## Journal\n\n## Focus\n".utf8)))
        #expect(note == "## Journal\n\n^jrnl-0810\n```\n\n## Focus\n\n^jrnl-0811\n```\n")
    }

    @Test("A heading within the content starts its own section")
    func headingInContent() throws {
        let note = try appended(
            "## A\n\n## C\n", block("aa-0101", "x\n## B\ny", under: "A", .endOfSection),
            block("bb-0202", "z", under: "B", .endOfSection), block("aa-0303", "w", under: "A", .endOfSection))
        #expect(note == "## A\n\n^aa-0101\nx\n\n^aa-0303\nw\n\n## B\ny\n\n^bb-0202\nz\n\n## C\n")
    }

    @Test("Of two sections with the same name the first one counts, even if the content adds it")
    func firstOfTwo() throws {
        #expect(
            try appended("## A\n\n## B\n\n## A\n", block("aa-0101", "x", under: "a", .endOfSection))
                == "## A\n\n^aa-0101\nx\n\n## B\n\n## A\n")
        let note = try appended(
            "## A\n\n## B\n\n## C\n", block("aa-0101", "## C\ny", under: "A", .endOfSection),
            block("cc-0202", "z", under: "C", .endOfSection))
        #expect(note == "## A\n\n^aa-0101\n## C\ny\n\n^cc-0202\nz\n\n## B\n\n## C\n")
    }

    @Test("An invalid note, content or heading is rejected before anything is created")
    func refused() throws {
        let wrong = Data([0x61, 0xFF])
        let good = try block("jrnl-0812", "x")
        let bad = AppendOptions(heading: "Journal", anchor: good.anchor, content: wrong)
        for (blocks, note) in [([good], wrong), ([good, bad], Data())] {
            let error = #expect(throws: A4Error.self) { try Append.appending(blocks, to: note) }
            #expect(error?.description.contains("number 1") == true)
        }
        #expect(throws: A4Error.self) { try appended("", block("jrnl-0812", "x", under: "two\nlines")) }
    }

    @Test("A slice of data works like any other note")
    func slice() throws {
        let note = Data("xx## Journal\n".utf8).dropFirst(2)
        #expect(text(try Append.appending([block("jrnl-0812", "one")], to: note)) == "## Journal\n\n^jrnl-0812\none\n")
    }

    @Test(
        "Ten thousand blocks are appended to a note of one megabyte", arguments: [Placement.endOfFile, .endOfSection])
    func many(_ placement: Placement) throws {
        let line = "Some words of a long day, and what came of them.\n"
        let section = String(repeating: line, count: 2_000)
        let note = Data((0..<10).map { "## Part \($0)\n\n\(section)\n" }.joined().utf8)
        let blocks = try (0..<10_000).map { index in
            let time = String(format: "%02d%02d", index / 60 % 24, index % 60)
            return try block("log-\(time)__n\(index)", "entry \(index)", under: "Part \(index % 7)", placement)
        }
        let found = Anchors.tokens(in: try Append.appending(blocks, to: note))
        #expect(found.count == blocks.count)
        if placement == .endOfSection { #expect(found.allSatisfy { $0.heading != "Part 9" }) }
    }
}
