import TKCore
import TestSupport
import Testing

@Suite("Checking proposals", .timeLimit(.minutes(30)))
struct ProposalGateTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var text: String
        var quote: String
        var replacement: String
        var testDescription: String { name }
    }

    /// Proposals of a model that would no longer be prose, or would change protected parts.
    static let refused = [
        Case(
            name: "code in a fence", text: "Run:\n\n```sh\nrm --utilize /tmp/x\n```\n", quote: "rm --utilize /tmp/x",
            replacement: "rm -rf ~"),
        Case(name: "code in a line", text: "Run `rm --utilize` now.\n", quote: "--utilize", replacement: "-rf"),
        Case(name: "code in a quotation", text: "> Run `rm -i x` now.\n", quote: "rm -i x", replacement: "rm -rf x"),
        Case(name: "indented code", text: "Run:\n\n    rm x\n\nSo.\n", quote: "rm x", replacement: "rm y"),
        Case(name: "code that goes", text: "Run `rm x` now.\n", quote: "Run `rm x` now.", replacement: "Run it now."),
        Case(name: "code that comes", text: "Run it now.\n", quote: "it", replacement: "`rm -rf ~`"),
        Case(
            name: "a block of code that comes", text: "Run it now.\n\nSo.\n", quote: "Run it now.",
            replacement: "Run:\n\n    rm -rf ~"),
        Case(
            name: "a link's target", text: "See [the docs](https://good.example/a) now.\n",
            quote: "https://good.example/a", replacement: "https://bad.example/a"),
        Case(
            name: "a link's text and target", text: "See [the docs](https://good.example) now.\n",
            quote: "[the docs](https://good.example)", replacement: "[the docs](https://bad.example)"),
        Case(
            name: "a link that goes", text: "See [the docs](https://good.example) now.\n",
            quote: "See [the docs](https://good.example) now.", replacement: "See the docs now."),
        Case(
            name: "a link that comes", text: "See the docs now.\n", quote: "the docs",
            replacement: "[the docs](https://bad.example)"),
        Case(
            name: "a picture that comes", text: "See the docs now.\n", quote: "the docs",
            replacement: "![x](https://bad.example/p.png)"),
        Case(
            name: "a bare address", text: "See https://good.example now.\n", quote: "https://good.example",
            replacement: "https://bad.example"),
        Case(
            name: "a definition", text: "See [docs] now.\n\n[docs]: https://good.example\n",
            quote: "https://good.example", replacement: "https://bad.example"),
        Case(
            name: "a label by which a link is found", text: "See [docs] now.\n\n[docs]: https://good.example\n",
            quote: "See [docs] now.", replacement: "See [the documents] now."),
        Case(name: "a wiki link", text: "See [[Other note]] now.\n", quote: "Other note", replacement: "Another note"),
        Case(
            name: "front matter", text: "---\ntitle: A\nslug: a-very-unique-slug\n---\n\nText here.\n",
            quote: "a-very-unique-slug", replacement: "a-unique-slug"),
        Case(
            name: "TOML front matter", text: "+++\nslug = 'very'\n+++\n\nText here.\n", quote: "very", replacement: "so"
        ),
        Case(name: "an attribute", text: "## Heading {#very-old}\n\nText.\n", quote: "very-old", replacement: "old"),
        Case(
            name: "an attribute of a tag", text: "A <b class=\"very\">bold</b> word.\n", quote: "very",
            replacement: "not"),
        Case(
            name: "an HTML block", text: "<div id=\"very\">\nText\n</div>\n\nMore.\n", quote: "very", replacement: "so"),
        Case(
            name: "a comment that silences", text: "Text here.\n\nMore of it.\n", quote: "Text here.",
            replacement: "Text here. <!-- tk: off -->"),
        Case(name: "math", text: "Let $x_1 + x_2$ be.\n", quote: "x_1 + x_2", replacement: "x_1 - x_2"),
        Case(
            name: "display math", text: "So:\n\n$$\nx = very\n$$\n\nText.\n", quote: "x = very", replacement: "x = so"),
        Case(
            name: "a footnote's mark", text: "Text[^very].\n\n[^very]: The note.\n", quote: "Text[^very].",
            replacement: "Text[^other]."),
        Case(
            name: "a footnote's mark that goes", text: "Text[^1].\n\n[^1]: The note.\n", quote: "Text[^1].",
            replacement: "Text."),
        Case(
            name: "a footnote's name", text: "Text[^1].\n\n[^1]: The note.\n", quote: "[^1]: The note.",
            replacement: "[^2]: The note."),
        Case(
            name: "a table's pipe", text: "| a | b |\n|---|---|\n| one | two |\n", quote: "one | two",
            replacement: "one two"),
        Case(
            name: "a pipe in a cell", text: "| a | b |\n|---|---|\n| one | two |\n", quote: "one",
            replacement: "one | and"),
        Case(
            name: "a line end in a cell", text: "| a | b |\n|---|---|\n| one | two |\n", quote: "one",
            replacement: "one\nand"),
        Case(
            name: "a table's line", text: "| a | b |\n|---|---|\n| one | two |\n", quote: "|---|---|",
            replacement: "|:-:|---|"),
        Case(name: "a task's box", text: "- [ ] not done\n", quote: "[ ] not done", replacement: "[x] not done"),
        Case(
            name: "a template", text: "Dear {{ user.name }}, hello.\n", quote: "user.name", replacement: "user.password"
        ),
        Case(name: "a block's name", text: "A claim here. ^very-good\n", quote: "very-good", replacement: "good"),
        Case(
            name: "a heading that a link leads to", text: "# Very old\n\nSee [it](#very-old).\n", quote: "Very old",
            replacement: "Old"),
        Case(
            name: "a heading that a link leads to in other characters",
            text: "# Tre\u{301}s vieux\n\nVoir [ici](#tr\u{E9}s-vieux).\n", quote: "Tre\u{301}s vieux",
            replacement: "Vieux"),
        Case(name: "a marked edit", text: "It {~~was~>is~~} here.\n", quote: "{~~was~>is~~}", replacement: "is"),
        Case(
            name: "a fence that swallows the rest", text: "One here.\n\nTwo here.\n", quote: "One here.",
            replacement: "One here.\n\n```"),
        Case(
            name: "two paragraphs of one", text: "One is here. Two is there.\n", quote: "One is here. Two is there.",
            replacement: "One is here.\n\nTwo is there."),
        Case(
            name: "a heading that comes", text: "One is here.\n\nTwo is there.\n", quote: "Two is there.",
            replacement: "# Two is there."),
        Case(
            name: "a line below a paragraph", text: "One is here.\n\nTwo is there.\n", quote: "One is here.",
            replacement: "One is here.\n---"),
        Case(name: "a list that comes", text: "One is here.\n", quote: "One is here.", replacement: "- One is here."),
        Case(
            name: "a number that begins a list", text: "It was so in\nthe year.\n", quote: "the year.",
            replacement: "the\n\n1. year."),
        Case(
            name: "a command of Templater's", text: "One is here.\n", quote: "is",
            replacement: "<% tp.system.prompt() %> is"),
        Case(name: "a comment of Obsidian's", text: "One is here.\n", quote: "is", replacement: "is %%so%%"),
        Case(name: "emphasis that comes", text: "One is here.\n", quote: "is", replacement: "*is*"),
        Case(name: "a half of a pair", text: "One ` here.\n", quote: "here", replacement: "`here"),
        Case(name: "a space of no width", text: "One is here.\n", quote: "is", replacement: "i\u{200B}s"),
        Case(name: "a letter that nobody sees", text: "One is here.\n", quote: "is", replacement: "is\u{3164}"),
        Case(name: "an unseen line end", text: "One is here.\n", quote: "is", replacement: "is\u{2028}so"),
        Case(
            name: "emphasis that goes", text: "It is *very good* here.\n", quote: "*very good* here",
            replacement: "good here"),
        Case(
            name: "emphasis that moves", text: "It is *very* good here.\n", quote: "*very* good",
            replacement: "very *good*"),
        Case(name: "half of emphasis", text: "It is *very* good.\n", quote: "*very* good", replacement: "good*"),
        Case(name: "half a strike", text: "It ~~was here~~ is.\n", quote: "was here~~ is", replacement: "was"),
        Case(name: "a heading's level", text: "## One here\n\nText.\n", quote: "## One", replacement: "# One"),
        Case(
            name: "a rule that goes", text: "One.\n\n- - -\n\nTwo.\n", quote: "One.\n\n- - -\n\nTwo.",
            replacement: "One. Two."),
        Case(
            name: "an item that goes", text: "- One here\n- Two there\n", quote: "One here\n- Two there",
            replacement: "One and two"),
    ]

    static let admitted = [
        Case(name: "words", text: "Run `rm x` very fast.\n", quote: "very fast", replacement: "fast"),
        Case(
            name: "words around code", text: "In order to run `rm x` you type it.\n",
            quote: "In order to run `rm x` you type it.", replacement: "To run `rm x`, type it."),
        Case(
            name: "words around a link", text: "See [the docs](https://good.example) very soon.\n",
            quote: "See [the docs](https://good.example) very soon.",
            replacement: "Read [the docs](https://good.example) soon."),
        Case(
            name: "a link's text", text: "See [the very good docs](https://good.example).\n",
            quote: "the very good docs", replacement: "the docs"),
        Case(name: "emphasis", text: "It is *very* good.\n", quote: "*very* good", replacement: "good"),
        Case(
            name: "a cell's words", text: "| a | b |\n|---|---|\n| very good | two |\n", quote: "very good",
            replacement: "good"),
        Case(
            name: "a heading that nothing leads to", text: "# Very old\n\nText.\n", quote: "Very old",
            replacement: "Old"),
        Case(name: "a quotation's words", text: "> It is teh end.\n", quote: "teh", replacement: "the"),
        Case(
            name: "a footnote's words", text: "Text[^1].\n\n[^1]: The very note.\n", quote: "The very note",
            replacement: "The note"),
        Case(name: "a share", text: "It takes five percent.\n", quote: "five percent", replacement: "5%"),
        Case(name: "a number", text: "It takes 5 days.\n", quote: "5 days", replacement: "a week (7 days)"),
    ]

    static func suggestion(_ example: Case) throws -> (DraftText, Suggestion) {
        let draft = DraftText(example.text)
        return (draft, try AdvisorFixture.suggestion(example.quote, example.replacement, in: draft))
    }

    @Test("A proposal that would change more than words is shown without its wording, and says why", arguments: refused)
    func refuses(_ example: Case) throws {
        let (draft, suggestion) = try Self.suggestion(example)
        let shown = ProposalGate(draft).admitted(suggestion)
        #expect(!shown.hasReplacement && shown.suggestedText.isEmpty, "\(example.name)")
        #expect(shown.reasoning.contains("would change"))
    }

    @Test("Nor is it applied, and the draft is unchanged", arguments: refused)
    func doesNotApply(_ example: Case) throws {
        let (draft, suggestion) = try Self.suggestion(example)
        let result = SuggestionApplier.apply([suggestion], to: draft)
        #expect(result.text == example.text && result.refused == [suggestion], "\(result.reports.map(\.outcome))")
        // Nor when it is applied together with others.
        let more = DraftText(example.text + "\nA last old line.\n")
        let both = [
            try AdvisorFixture.suggestion(example.quote, example.replacement, in: more),
            try AdvisorFixture.suggestion("old line", "line", in: more),
        ]
        #expect(SuggestionApplier.apply(both, to: more).text == example.text + "\nA last line.\n")
    }

    @Test("Words replacing words are accepted, with the code and links among them", arguments: admitted)
    func admits(_ example: Case) throws {
        let (draft, suggestion) = try Self.suggestion(example)
        #expect(ProposalGate(draft).admitted(suggestion) == suggestion)
        let result = SuggestionApplier.apply([suggestion], to: draft)
        #expect(result.text == example.text.replacing(example.quote, with: example.replacement))
    }

    @Test(
        "In every format the CommonMark blocks are unchanged, and no template is added",
        arguments: DraftSyntax.allCases.filter { $0 != .unknown })
    func formats(_ syntax: DraftSyntax) throws {
        let draft = DraftText("One word is here.\n\nTwo words are there.\n", syntax: syntax)
        let gate = ProposalGate(draft)
        let range = 4..<8
        for replacement in [
            "word\n---\n", "\n\n# word", "<% word %>", "<%* word %>", "%%word%%", "\n\n- word", "`word`",
        ] {
            #expect(gate.objection(to: replacement, at: range) != nil, "\(replacement.debugDescription)")
            #expect(
                gate.objection(to: draft.string.replacing("word is", with: replacement + " is")) != nil,
                "\(replacement.debugDescription)")
        }
        #expect(gate.objection(to: "sentence (so to say)", at: range) == nil)
    }

    @Test("Proposals that only together would form code are applied neither together nor alone")
    func together() throws {
        let draft = DraftText("One word here and two words there.\n")
        let accepted = [
            try AdvisorFixture.suggestion("word here", "`word here", in: draft, priority: 1),
            try AdvisorFixture.suggestion("words there", "words` there", in: draft, priority: 2),
        ]
        let result = SuggestionApplier.apply(accepted, to: draft)
        #expect(result.refused == accepted && result.applied.isEmpty)
        #expect(result.text == draft.string)
    }

    @Test("The writer's own text is applied, whatever it is")
    func own() throws {
        let draft = DraftText("Run it now, very soon.\n")
        let typed = try AdvisorFixture.suggestion("it", "`rm x`", in: draft)
        let proposed = try AdvisorFixture.suggestion("very soon", "soon", in: draft)
        let result = SuggestionApplier.apply([typed, proposed], to: draft, ownWords: [typed.id])
        #expect(result.text == "Run `rm x` now, soon.\n")
    }

    @Test("Whatever replaces what, everything but prose is unchanged")
    func random() {
        var random = SeededGenerator(for: "gate")
        let pieces = [
            "word", "very", " ", "\n", "\n\n", "`", "```\n", "[", "](x)", "[^1]", "| ", "---\n", "    ", "- ", "$",
            "$$\n",
            "<b>", "<!--", "-->", "{{", "}}", "> ", "# ", "~~~\n", "\\", "![", "https://a.b/c",
        ]
        func text(_ count: Int) -> String {
            (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        }
        for _ in 0..<150 {
            let draft = DraftText(text(40))
            let start = Int.random(in: 0..<draft.count, using: &random)
            let anchor = draft.anchor(of: start..<min(draft.count, start + Int.random(in: 1...12, using: &random)))
            let suggestion = Suggestion(
                id: "1", advisorID: "a", type: .improve, category: "style", priority: 2, confidence: 0.5,
                originalText: anchor.exact, suggestedText: text(3), hasReplacement: true, reasoning: "", anchor: anchor)
            let result = SuggestionApplier.apply([suggestion], to: draft)
            #expect(ProposalGate(draft).objection(to: result.text) == nil, "\(draft.string.debugDescription)")
        }
    }
}

@Suite("Proposals for a retyped quote", .timeLimit(.minutes(30)))
struct WordMergeTests {
    static func applied(_ quote: String, _ proposal: String, now: String) throws -> String {
        let before = DraftText("It began so. \(quote) And so it ended, here.\n")
        let suggestion = try AdvisorFixture.suggestion(quote, proposal, in: before)
        let draft = DraftText("It began so. \(now) And so it ended, here.\n")
        let result = SuggestionApplier.apply([suggestion], to: draft)
        return String(result.text.dropFirst("It began so. ".count).dropLast(" And so it ended, here.\n".count))
    }

    @Test("Apostrophes and quotation marks stay as the writer now has them")
    func quotes() throws {
        #expect(
            try Self.applied(
                "It's what we don't utilize, \"as such\".", "It's what we don't use, \"as such\".",
                now: "It’s what we don’t utilize, “as such”.")
                == "It’s what we don’t use, “as such”.")
        #expect(
            try Self.applied(
                "We don't utilize it much.", "We don't use it, and they don't.", now: "We don’t utilize it much.")
                == "We don’t use it, and they don’t.")
    }

    @Test("Line breaks stay where the writer now has them")
    func breaks() throws {
        #expect(
            try Self.applied(
                "We utilize it in order to see whether it works.", "We use it in order to see whether it works.",
                now: "We utilize it\nin order to see\nwhether it works.")
                == "We use it\nin order to see\nwhether it works.")
        #expect(
            try Self.applied(
                "We utilize it\nin order to see.", "We use it\nin order to see.", now: "We utilize it in order\nto see."
            )
                == "We use it in order\nto see.")
    }

    @Test("Deliberate changes to them are applied")
    func own() throws {
        #expect(
            try Self.applied("It's so.\nAnd on.", "It’s so. And on.", now: "It's so.\nAnd  on.") == "It’s so. And  on.")
    }
}
