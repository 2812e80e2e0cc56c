import Platform
import TestSupport
import Testing

@testable import TKCore

/// Exports of drafts.
@Suite("Exporting drafts", .timeLimit(.minutes(30)))
struct ExportTests {
    @Test(
        "The title is the given one, or else the front matter's, the first heading, or the file's name",
        arguments: [
            ("---\ntitle: 'Front'\n---\n# Head\n", "Given", "Given"),
            ("---\ntitle: 'Front'\n---\n# Head\n", nil, "Front"),
            ("---\ndate: x\n---\n# Head *em*\n", nil, "Head em"), ("text\n", nil, "stem"),
            ("\u{FEFF}+++\ntitle = \"Toml\"\n+++\ntext", nil, "Toml"),
            (#"---\#ntitle: "A \"T\" <b>"\#n---\#n"#, nil, #"A "T" <b>"#),
            (#"---\#ntitle: "C:\\ \u00e9\x41\U0001F600\n\tB" # why\#n---\#n"#, nil, "C:\\ \u{E9}A\u{1F600} B"),
            ("---\ntitle: 'It''s \"so\" \\n' \n---\n", nil, "It's \"so\" \\n"),
            ("---\ntitle: \"Yes\" or \"no\"\n---\n", nil, "\"Yes\" or \"no\""),
            (#"---\#ntitle: "\ud83d \q"\#n---\#n"#, nil, "\u{FFFD} q"),
            ("---\ntitle: C# and F# # two of them\n---\n", nil, "C# and F#"),
            ("---\ntitle: # none\n---\n", nil, "stem"),
        ])
    func title(source: String, given: String?, expected: String) {
        #expect(DraftExport(source, title: given, fallbackTitle: "stem").title == expected)
    }

    @Test("Front matter is not text, and a rule at the beginning is not front matter")
    func frontMatter() {
        #expect(DraftExport("---\r\na: b\r\n---\r\ntext\r\n", fallbackTitle: "").markdown == "text\r\n")
        #expect(DraftExport("---\n\ntext\n", fallbackTitle: "").markdown == "---\n\ntext\n")
    }

    @Test("HTML omits anything executable, and for a renderer anything it would fetch")
    func safety() {
        let source = "<b onclick=x>hi</b> [x](javascript:x) ![far](http://e.org/p.png) ![near](p.png) ![up](../p.png)"
        let export = DraftExport(source, fallbackTitle: "t")
        let html = HTMLExport.page(export)
        #expect(!html.contains("onclick") && !html.contains("javascript"))
        #expect(html.contains("e.org/p.png"))
        let forRenderer = HTMLExport.page(export, isForRenderer: true)
        #expect(!forRenderer.contains("e.org") && !forRenderer.contains("../p.png"))
        #expect(forRenderer.contains("far") && forRenderer.contains("src=\"p.png\""))
    }

    @Test("Plain text keeps words and layout")
    func plainText() {
        let source =
            "# H\n\na **b**\nc\n\n> q\n\n3. x\n\n   y\n4. z\n\n- [ ] t\n\n---\n\n```\ncode\n```\n\nnote[^1]\n\n[^1]: foot\n"
        let text = PlainTextExport.text(DraftExport(source, fallbackTitle: "t"))
        let expected =
            "H\n\na b\nc\n\n  q\n\n3. x\n\n   y\n\n4. z\n\n- [ ] t\n\n* * *\n\n    code\n\nnote[1]\n\n[1] foot\n"
        #expect(text == expected)
    }

    @Test(
        "A footnote without a reference stays in plain text, after the others",
        arguments: [
            ("[^a]: Only.\n", "[1] Only.\n"),
            ("Text[^1].\n\n[^2]: Two.\n\n[^1]: One.\n", "Text[1].\n\n[1] One.\n\n[2] Two.\n"),
            ("Text.\n\n```\n[^1]: code\n", "Text.\n\n    [^1]: code\n"),
        ])
    func unusedFootnotes(source: String, expected: String) {
        #expect(PlainTextExport.text(DraftExport(source, fallbackTitle: "t")) == expected)
    }

    @Test("Deep nesting and hostile Markdown terminate, and stay well-formed")
    func hostile() {
        for source in [
            String(repeating: "> ", count: 5000) + "x", String(repeating: "- ", count: 3000) + "x",
            String(repeating: "*a ", count: 5000), "\u{0}\u{1}\u{FFFE}&<>\"", String(repeating: "[", count: 10_000),
        ] {
            let export = DraftExport(source, fallbackTitle: "t")
            #expect(DocxExport.bytes(export).starts(with: [0x50, 0x4B]))
            #expect(HTMLExport.page(export).hasSuffix("</html>\n"))
            _ = PlainTextExport.text(export)
        }
    }

    @Test("Tabs in code are tabs in docx")
    func tabs() {
        let bytes = DocxExport.bytes(DraftExport("```\na\tb\n```\n", fallbackTitle: "t"))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#"<w:t xml:space="preserve">a</w:t><w:tab/><w:t xml:space="preserve">b</w:t>"#))
    }
}
