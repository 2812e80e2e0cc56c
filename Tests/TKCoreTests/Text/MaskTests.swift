import Testing

@testable import TKCore

/// The remaining words, as a reader of the masked text sees them.
func proseWords(_ text: String, _ syntax: DraftSyntax = .markdown) -> String {
    DraftMask(DraftText(text, syntax: syntax)).text
        .split { !$0.isLetter && $0 != "'" }.joined(separator: " ")
}

@Suite("Prose in a Markdown draft")
struct MaskTests {
    struct Case: CustomTestStringConvertible {
        var name: String
        var text: String
        var prose: String
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "YAML", text: "---\ntitle: very\n---\nText.", prose: "Text"),
        Case(name: "YAML behind a byte order mark", text: "\u{FEFF}---\ntitle: very\n...\nText.", prose: "Text"),
        Case(name: "TOML", text: "+++\ntitle = 'very'\n+++\n\nText.", prose: "Text"),
        Case(name: "empty front matter", text: "---\n---\nText.", prose: "Text"),
        Case(name: "a thematic break is no front matter", text: "---\n\nText.\n\n---\nMore.", prose: "Text More"),
        Case(name: "a fence", text: "One\n\n```sh\nvery code\n```\nTwo", prose: "One Two"),
        Case(name: "a tilde fence with backticks", text: "One\n\n~~~\n```\nvery\n~~~\nTwo", prose: "One Two"),
        Case(name: "an unclosed fence", text: "One\n\n```\nvery\n\nvery", prose: "One"),
        Case(
            name: "a fence in a list", text: "- One\n\n  ```\n  very\n  ```\n\n  Two\n- Three", prose: "One Two Three"),
        Case(name: "a fence in a quotation", text: "> ```\n> very\n> ```\n\nTwo", prose: "Two"),
        Case(name: "a fence in a list's quotation", text: "- a\n  > ```\n  > x\n  > ```\n- b", prose: "a b"),
        Case(name: "a longer closing fence", text: "````\n```\nx\n```\n````\nTwo", prose: "Two"),
        Case(name: "indented code", text: "One\n\n    very code\n\nTwo", prose: "One Two"),
        Case(name: "an indented line of a paragraph", text: "One\n    two", prose: "One two"),
        Case(name: "inline code", text: "Use `very` and ``a ` b`` now", prose: "Use and now"),
        Case(name: "a lone backtick", text: "Use ` and go", prose: "Use and go"),
        Case(name: "code over a line end", text: "Use `very\nvery` now", prose: "Use now"),
        Case(name: "a link", text: "See [the *docs*](https://x.y/very_(z) \"very\") now", prose: "See the docs now"),
        Case(name: "a destination in brackets", text: "See [docs](<a b (c>) now", prose: "See docs now"),
        Case(name: "a reference", text: "See [docs][very] now\n\n[very]: https://x.y 'very'\n", prose: "See docs now"),
        Case(name: "definitions only", text: "[a]: /very\n[b]: /so\n  \"very\"\n", prose: ""),
        Case(name: "a term is no definition", text: "- [Term]: what it means\n", prose: "Term what it means"),
        Case(name: "an escaped callout", text: "> \\[!NOTE]\n> Mind this\n", prose: "Mind this"),
        Case(name: "an image", text: "![alt text](very.png)", prose: "alt text"),
        Case(name: "a footnote", text: "Text[^very].\n\n[^very]: The note.\n", prose: "Text The note"),
        Case(name: "autolinks", text: "See <https://very.org> or <a@very.org>.", prose: "See or"),
        Case(name: "bare URLs", text: "See https://very.org/a_(b)?q=very, www.very.org. End", prose: "See End"),
        Case(name: "a URL in parentheses", text: "(see https://very.org/x) and on", prose: "see and on"),
        Case(name: "a bare mail address", text: "Mail very.much@so.org, please", prose: "Mail please"),
        Case(name: "HTML block", text: "<div class=\"very\">\nvery\n</div>\n\nText", prose: "Text"),
        Case(name: "inline HTML", text: "A <b class='very'>bold</b> word<br/>", prose: "A bold word"),
        Case(name: "a comment", text: "One <!-- very --> two", prose: "One two"),
        Case(name: "an element of code", text: "Press <kbd>very</kbd> now", prose: "Press now"),
        Case(name: "less than", text: "If a < b and c > d", prose: "If a b and c d"),
        Case(name: "entities", text: "A&nbsp;B &amp; C &c", prose: "A B C c"),
        Case(name: "inline math", text: "Let $x_{very}$ be", prose: "Let be"),
        Case(name: "prices", text: "It costs $5 and then $10 more", prose: "It costs and then more"),
        Case(name: "display math", text: "One\n\n$$\nvery\n\n- very\n$$\n\nTwo", prose: "One Two"),
        Case(name: "dollars in a fence", text: "```\n$$\n```\nOne\n\n$$\n", prose: "One"),
        Case(name: "a table", text: "| A x\\|y | B |\n|---|:-:|\n| one | two |\n", prose: "A x y B one two"),
        Case(name: "a quotation", text: "> very\nvery\n\nText", prose: "Text"),
        Case(name: "a callout", text: "> [!NOTE]\n> Mind\n> this\n\nText", prose: "Mind this Text"),
        Case(
            name: "CriticMarkup", text: "A {++very++}{--so--} {~~a~>b~~}word{>>why<<} {==here==}", prose: "A word here"),
        Case(name: "wiki links", text: "See [[very]] and [[very|the page]]", prose: "See and the page"),
        Case(name: "Liquid", text: "A {{ very.x }} b {% if very %} c", prose: "A b c"),
        Case(name: "a Liquid block", text: "A\n\n{% highlight c %}\nvery\n\nso\n{% endhighlight %}\n\nB", prose: "A B"),
        Case(name: "headings", text: "# One #\n\nTwo\n===\n\n## Three {#very}", prose: "One Two Three"),
        Case(name: "tasks", text: "- [x] done it\n- [ ] open", prose: "done it open"),
        Case(name: "escapes", text: "\\*not\\* \\`code\\`", prose: "not code"),
        Case(name: "citations", text: "As said [@very2020, p. 3] once", prose: "As said once"),
        Case(name: "CRLF", text: "---\r\na: very\r\n---\r\n\r\n```\r\nvery\r\n```\r\nText\r\nmore", prose: "Text more"),
    ]

    @Test("Only the author's words stay", arguments: cases)
    func masks(_ example: Case) {
        #expect(proseWords(example.text) == example.prose)
    }

    @Test("The mask has the draft's length and its line endings", arguments: cases)
    func length(_ example: Case) {
        let draft = DraftText(example.text)
        let mask = DraftMask(draft)
        #expect(mask.scalars.count == draft.count)
        for (index, scalar) in draft.scalars.enumerated() {
            #expect((scalar == "\n" || scalar == "\r") == (mask.scalars[index] == "\n" || mask.scalars[index] == "\r"))
            if mask.kind(at: index) == .prose { #expect(mask.scalars[index] == scalar) }
        }
    }

    @Test("A masked span becomes one placeholder, so that the words around it do not meet")
    func placeholder() {
        #expect(DraftMask(DraftText("the `x` the")).text == "the \u{FFFC}   the")
    }

    @Test("The kind of a range can be queried")
    func queries() throws {
        let draft = DraftText("---\na: b\n---\nRead `code` *now*.\n\n> quoted\n")
        let mask = DraftMask(draft)
        let find = AnchorResolver(draft)
        let read = try #require(find.find("Read").range)
        let now = try #require(find.find("*now*").range)
        let code = try #require(find.find("`code`").range)
        let key = try #require(find.find("a: b").range)
        let quoted = try #require(find.find("quoted").range)
        #expect(mask.isProse(read))
        #expect(mask.isProse(now))
        #expect(!mask.isProse(read.lowerBound..<code.upperBound))
        #expect(mask.touchesCode(code))
        #expect(mask.kinds(in: key) == [.frontMatter])
        #expect(mask.kind(at: quoted.lowerBound) == .quotation)
        #expect(!mask.touchesCode(quoted))
    }

    @Test("`tk: off` and `tk: on` exempt the text between them, `ignore` one block")
    func directives() throws {
        let text = """
            One alpha.

            <!-- tk: off -->
            Two beta.

            <!-- tk: on -->
            Three gamma.

            <!-- tk: ignore passive, wordy -->
            - Four delta.
            - Five epsilon.

            Six zeta. <!-- tk: ignore -->

            ```
            <!-- tk: off -->
            ```
            Seven eta.
            """
        let draft = DraftText(text)
        let mask = DraftMask(draft)
        let find = AnchorResolver(draft)
        func exempt(_ word: String, _ rule: String? = nil) throws -> Bool {
            mask.isExempt(try #require(find.find(word).range), rule: rule)
        }
        #expect(try !exempt("alpha"))
        #expect(try exempt("beta"))
        #expect(try exempt("beta", "passive"))
        #expect(try !exempt("gamma", "passive"))
        #expect(try exempt("delta", "passive"))
        #expect(try exempt("epsilon", "wordy"))
        #expect(try !exempt("epsilon", "cliche"))
        #expect(try !exempt("epsilon"))
        #expect(try exempt("zeta", "cliche"))
        #expect(try !exempt("eta", "passive"))
    }

    @Test(
        "Hostile text does not take quadratic time",
        arguments: ["`", "[", "<!--", "<a ", "{++", "$", "![", "](", "[[", "<?", "\\(", "***", "> "])
    func hostile(piece: String) {
        let draft = DraftText(String(repeating: piece, count: 8_000))
        #expect(DraftMask(draft).scalars.count == draft.count)
        let mixed = DraftText((1...400).map { String(repeating: "`", count: $0) + " " }.joined())
        #expect(DraftMask(mixed).scalars.count == mixed.count)
    }

    @Test(
        "Unclosed and nested markup costs no more than other text",
        arguments: [
            "> ", "> - ", "* ", "1) ", "[a](", "[a](<", "[a](b (", "[[a", "[[a] ", "<code>a ", "`a ``", "{% raw %}\n",
            "$$\n",
            "<!-- tk: ignore a -->\n\na\n\n",
        ])
    func unclosed(_ unit: String) {
        let draft = DraftText(String(repeating: unit, count: 120_000 / unit.utf8.count) + "]]")
        #expect(DraftMask(draft).scalars.count == draft.count)
    }

    @Test("Plain text is masked only for its addresses")
    func plain() {
        #expect(proseWords("    Indented text\nsee https://very.org.\n\n`tick`", .plain) == "Indented text see tick")
    }
}
