import A4CoreSwift
import Foundation
import Testing

@Suite("Anchors")
struct AnchorTests {
    @Test(
        "Tokens of the grammar are read and written back",
        arguments: [
            ("focus-0930", "focus", "0930", nil), ("jrnl-0812__iphone", "jrnl", "0812", "iphone"),
            ("a1-0000", "a1", "0000", nil), ("x--2359", "x-", "2359", nil),
            ("a-b-1200__Mac.local_2-x", "a-b", "1200", "Mac.local_2-x"),
            ("abcdefghijklmnopqrstuvwxy-0101", "abcdefghijklmnopqrstuvwxy", "0101", nil),
        ] as [(String, String, String, String?)])
    func accepted(_ token: String, _ prefix: String, _ hhmm: String, _ suffix: String?) throws {
        let parsed = try AnchorToken(parse: token)
        #expect(parsed.prefix == prefix)
        #expect(parsed.hhmm == hhmm)
        #expect(parsed.suffix == suffix)
        #expect(parsed.marker() == "^\(token)")
        #expect(try AnchorToken(prefix: prefix, hhmm: hhmm, suffix: suffix) == parsed)
    }

    @Test(
        "Everything else is rejected, and the message quotes it",
        arguments: [
            "FOCUS-0930", "2500", "focus-2500", "focus-2360", "focus-930", "focus0930", "bad__sfx__more",
            "focus-0930__",
            "focus-0930__a__b", "focus-0930__ä", "focus-0930__a b", "a-0930", "-0930", "1a-0930", "f_x-0930",
            "ｆocus-0930",
            "focus-٠٩٣٠", "abcdefghijklmnopqrstuvwxyz-0101", "", "^focus-0930", "focus-0930\n", "focus-0930_x",
        ])
    func refused(_ token: String) {
        let error = #expect(throws: A4Error.self) { try AnchorToken(parse: token) }
        guard case .invalidAnchor(let detail)? = error else {
            Issue.record("\(String(describing: error)) is no invalidAnchor")
            return
        }
        #expect(detail.contains("\""))
    }

    @Test("Blocks are found with heading, text and range")
    func blocks() throws {
        let note = """
            ---
            ^jrnl-0000
            ---
            ^top-0001
            before
            ## Journal ##

            ^jrnl-0812__mac
            one

            two

            ```
            ^code-0900
            ```


            ^todo-0930 buy milk
            and bread
            # Next
            ^not an anchor
             ^jrnl-0813
            """
        let found = Anchors.tokens(in: Data(note.utf8))
        #expect(found.map(\.token.description) == ["top-0001", "jrnl-0812__mac", "todo-0930"])
        #expect(found.map(\.heading) == [nil, "Journal", "Journal"])
        #expect(found.map(\.text) == ["before", "one\n\ntwo\n\n```\n^code-0900\n```", "buy milk\nand bread"])
        let bytes = Array(note.utf8)
        #expect(
            found.map { String(decoding: bytes[$0.range], as: UTF8.self) } == [
                "^top-0001\nbefore\n", "\n^jrnl-0812__mac\none\n\ntwo\n\n```\n^code-0900\n```\n",
                "\n^todo-0930 buy milk\nand bread\n",
            ])
    }

    @Test("Foreign line endings are accepted, and offsets into a slice count from its start")
    func otherLineEndings() throws {
        let data = Data("xx## J\r\n\r\n^aa-0101\r\none\rtwo\r\n\r\n^bb-0202".utf8).dropFirst(2)
        let found = Anchors.tokens(in: data)
        #expect(found.map(\.text) == ["one\ntwo", ""])
        #expect(found.map(\.range) == [6..<27, 27..<37])
        #expect(found.map(\.heading) == ["J", "J"])
    }

    @Test(
        "Removing a block's range undoes the append",
        arguments: ["# Day\n\n## Journal\n\nText.\n", "## Journal\nx\n\n## Focus\n"])
    func undo(_ note: String) throws {
        for placement in [Placement.endOfFile, .endOfSection] {
            var bytes = Data(try appended(note, block("jrnl-0812", "one\n\ntwo", placement)).utf8)
            let range = try #require(Anchors.tokens(in: bytes).first?.range)
            bytes.removeSubrange(range)
            #expect(text(bytes) == note)
        }
    }

    @Test("If the note already has a token, the device is appended to it, then a number")
    func available() throws {
        var note = Data()
        var given: [String] = []
        for _ in 0..<4 {
            let token = try Anchors.available(AnchorToken(parse: "jrnl-0812"), in: note, device: "host")
            given.append(token.description)
            note = try Append.appending(
                [AppendOptions(heading: "Journal", anchor: token, content: Data("x".utf8))], to: note)
        }
        #expect(given == ["jrnl-0812", "jrnl-0812__host", "jrnl-0812__host-2", "jrnl-0812__host-3"])
        let own = try AnchorToken(parse: "jrnl-0812__host")
        #expect(try Anchors.available(own, in: note, device: "other").description == "jrnl-0812__host-4")
        #expect(throws: A4Error.self) {
            try Anchors.available(AnchorToken(parse: "jrnl-0812"), in: note, device: "a b")
        }
    }
}
