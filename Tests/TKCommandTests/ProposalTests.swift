import Platform
import TestSupport
import Testing

@Suite("Proposals of models, through the built tk", .timeLimit(.minutes(30)))
struct ProposalTests {
    static let draft = """
        ---
        title: Cleaning
        slug: a-very-clean-disk
        ---

        Run this in order to clean up:

        ```sh
        rm --utilize /tmp/x
        ```

        See [the manual](https://good.example/very) first.

        """

    /// A model that also proposes changes to the code, the link and the front matter.
    static func stub() throws -> MessagesStub {
        func item(_ quote: String, _ replacement: String) -> String {
            #"{"quote":"\#(quote)","before":"","replacement":"\#(replacement)","type":"fix","category":"clarity","#
                + #""priority":1,"confidence":0.9,"reason":"It reads better."}"#
        }
        let items = [
            item("rm --utilize /tmp/x", "rm -rf ~"), item("a-very-clean-disk", "a-clean-disk"),
            item("[the manual](https://good.example/very)", "[the manual](https://bad.example)"),
            item("See [the manual]", "Read [the manual]"),
        ]
        return try MessagesStub {
            $0.contains("json_schema") ? #"{"suggestions":[\#(items.joined(separator: ","))]}"# : nil
        }
    }

    @Test("Pipe changes words, but neither code nor links nor front matter")
    func pipe() throws {
        let tk = try CommandFixture(try Self.stub())
        try tk.write("clean.md", Self.draft)
        let result = try tk.tk(["pipe", "clean.md"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.output
                == Self.draft.replacing("in order to clean", with: "to clean").replacing("See [the", with: "Read [the"))
    }

    @Test("Suggest shows such a proposal as a remark that says what it would change")
    func suggest() throws {
        let tk = try CommandFixture(try Self.stub())
        try tk.write("clean.md", Self.draft)
        // A reason may be spread over several lines.
        let shown = try tk.tk(["suggest", "clean.md"]).output.split { $0.isWhitespace }.joined(separator: " ")
        #expect(!shown.contains("rm -rf ~") && !shown.contains("bad.example"))
        #expect(
            shown.contains("it would change code") && shown.contains("it would change the front matter"), "\(shown)")
        #expect(try tk.tk(["suggest", "clean.md", "--quiet"]).output.contains("Read [the manual]"))
    }

    @Test(
        "Pipe leaves anything but prose unchanged, in every format",
        arguments: [
            ("a.adoc", "We met in order to talk.\n\n----\nin order to\n----\n"),
            ("a.rst", "We met in order to talk::\n\n   in order to\n"),
            ("a.org", "We met in order to talk.\n\n#+BEGIN_SRC sh\nin order to\n#+END_SRC\n"),
            ("a.tex", "We met in order to talk. % in order to\n"),
            ("a.mdx", "export const a = 'in order to'\n\nWe met in order to talk.\n"),
            ("a.txt", "We met in order to talk.\n\n  $ echo in order to\n"),
        ])
    func formats(name: String, text: String) throws {
        let tk = try CommandFixture()
        try tk.write(BytePath(name), text)
        let result = try tk.tk(["pipe", "--quick", name])
        #expect(result.output == text.replacing("in order to talk", with: "to talk"), "\(result.errors)")
    }

    @Test("Pipe rejects what it cannot tell from prose, and suggest says so")
    func unknown() throws {
        let tk = try CommandFixture()
        let text = "<p>We met in order to talk.</p>\n"
        try tk.write("a.html", text)
        let result = try tk.tk(["pipe", "--quick", "--apply", "a.html"])
        #expect(result.status == 1 && result.output.isEmpty && result.errors.contains("cannot be told from the rest"))
        #expect(try tk.read("a.html") == text)
        let shown = try tk.tk(["suggest", "--quick", "a.html"])
        #expect(!shown.output.contains("in order to") && shown.errors.contains("the quick pass skips it"))
    }

    @Test(
        "Invalid UTF-8 is rejected with its position",
        arguments: [
            (Array("One\ntwo\u{0}\n".utf8), "NUL in line 2"), ([0xFF, 0xFE, 0x41, 0x00], "UTF-16"),
            (Array("One\n".utf8) + [0xE9, 0x74, 0xE9], "line 2 holds bytes of another encoding"),
        ] as [([UInt8], String)])
    func bytes(bytes: [UInt8], what: String) throws {
        let tk = try CommandFixture()
        try tk.home.write("a.md", bytes)
        let result = try tk.tk(["suggest", "--quick", "a.md"])
        #expect(result.status == 1 && result.errors.contains(what), "\(result.errors)")
    }
}
