import TestSupport
import Testing

@testable import TKCore

@Suite("What other parsers call code is no prose", .timeLimit(.minutes(30)))
struct MarkupTrapTests {
    static let cases = [
        FormatTests.Case(.restructuredText, "a lone mark", "One\n\n::\n\n   very\n\nTwo", "One Two"),
        FormatTests.Case(.restructuredText, "a quoted literal", "One::\n\n> very\n> so\n\nTwo", "One Two"),
        FormatTests.Case(.restructuredText, "input at a prompt", "One::\n\n$ very\n$ so\n\nTwo", "One Two"),
        FormatTests.Case(.restructuredText, "a literal in an item", "- One::\n\n    very\n\n  Two", "One Two"),
        FormatTests.Case(.restructuredText, "a literal by a tab", "- One::\n\n\tvery\n\n- Two", "One Two"),
        FormatTests.Case(.restructuredText, "an item of code", "- ::\n\n    very\n\n- Two", "Two"),
        FormatTests.Case(
            .restructuredText, "no item within a paragraph", "One\n- two::\n\n  very\n\nThree", "One two Three"),
        FormatTests.Case(
            .restructuredText, "a literal in a directive", ".. note::\n\n   One::\n\n      very\n\n   Two", "One Two"),
        FormatTests.Case(
            .restructuredText, "words beside a directive", ".. note:: One\n   two\n\nThree", "One two Three"),
        FormatTests.Case(
            .restructuredText, "a directive with a space", ".. note ::\n\n   One\n\n.. code ::\n\n   very", "One"),
        FormatTests.Case(
            .restructuredText, "a figure", ".. figure:: very\n   so/very.png\n   :alt: very\n\n   One", "One"),
        FormatTests.Case(.restructuredText, "an empty comment", "One\n\n..\n\n   Two", "One Two"),
        FormatTests.Case(
            .restructuredText, "a comment on the next line", "One\n\n..\n   very\n\n   so\n\nTwo", "One Two"),
        FormatTests.Case(.restructuredText, "a comment in brackets", ".. [see very] so\n   very\n\nOne", "One"),
        FormatTests.Case(
            .restructuredText, "a substitution", ".. |a| replace:: very\n   so\n\nOne |very so| two", "One two"),
        FormatTests.Case(.restructuredText, "fields", ":py:class: very\n:b: so\n   very\n\nOne", "One"),
        FormatTests.Case(.restructuredText, "a role is no field", ":func:`very` does: one", "does one"),
        FormatTests.Case(
            .restructuredText, "a simple table", "== ==\nso very\n== ==\na  b\n\nc  d\n== ==\nOne", "One"),
        FormatTests.Case(.restructuredText, "an option", "-v, --very so  One\n--very\n    Two", "One Two"),
        FormatTests.Case(
            .restructuredText, "marks beside words", "One x*y*z, ``so``very`` and `a`:so: two", "One x y z and two"),
        FormatTests.Case(.restructuredText, "an unclosed mark", "One ``two three", "One two three"),
        FormatTests.Case(.restructuredText, "a mark in quotes", "One \"``\" two ``very``", "One two"),
        FormatTests.Case(.restructuredText, "a target in a line", "One _`very so` two", "One two"),
        FormatTests.Case(.restructuredText, "a dotted name", "One very.so_ two snake_case", "One two snake case"),
        FormatTests.Case(.plain, "a drawn table", "One\n+----+\n| so very |\n+----+\n\nTwo", "One Two"),
        FormatTests.Case(.plain, "rows without borders", "One two\n\nvery | so | very |\n", "One two"),
        FormatTests.Case(.plain, "characters for boxes", "│ very │\n├──────┤\n└ so\n\nOne", "One"),
        FormatTests.Case(
            .plain, "two columns", "very long and so    is this\nhere                in it\nso it\n\nOne", "One"),
        FormatTests.Case(.plain, "narrow columns", "very long  so is\nis so far  in it\n\nOne", "One"),
        FormatTests.Case(.plain, "two spaces after a sentence", "It is.  One\nIt is.  Two", "It is One It is Two"),
        FormatTests.Case(.plain, "justified lines", "One  two  three\nOne  two  three", "One two three One two three"),
        FormatTests.Case(
            .markdown, "Obsidian's comment", "One %%very%% two\n\n%%\nvery\n\nso\n%%\n\nThree", "One two Three"),
        FormatTests.Case(.markdown, "per cent", "One 5% two 6% three", "One two three"),
        FormatTests.Case(
            .org, "tasks", "* TODO [#A] One :very:\n** DONE Two\n* COMMENT Three\n* Todo\n* TODO :very:",
            "One Two Three Todo"),
        FormatTests.Case(.org, "a file's own tasks", "#+TODO: VERY SO(s@) | END\n* SO One\n* END Two", "One Two"),
        FormatTests.Case(.org, "source in a line", "One src_sh[:a b]{very} and src_x two", "One and src x two"),
        FormatTests.Case(.org, "a dynamic block", "#+BEGIN: very\nvery\n#+END:\nOne", "One"),
        FormatTests.Case(
            .org, "planning and drawers", "* One\nDEADLINE: <2026-11-28>\n:LOGBOOK:\n- very\n:END:\nTwo", "One Two"),
        FormatTests.Case(.latex, "typewriter", "One \\texttt{very} two", "One two"),
        FormatTests.Case(.asciidoc, "a macro", "One\n\nvery::so[a [b]]\n\nTwo", "One Two"),
    ]

    @Test("Only the author's words stay", arguments: cases)
    func masks(_ example: FormatTests.Case) {
        #expect(proseWords(example.text, example.syntax) == example.prose)
    }

    static let pieces = [
        "$$", "`", "``", "<!--", "-->", "[", "](", "[[", "%%", "<", "<code>", "<a href=\"", "{", "{{", "{++", "|", "*",
        "_", ":a", "::\n", "~", "=", "\\(", "\\[", "\\a{", "\\begin{a}", "src_", "<<", "+++", "word ", "   ", "\n",
        "\n\n", "(#", "</code", "://", "@", ".)", "- ", "{\n", "> ", "^", "\\",
    ]

    @Test("A mask examines no more than a few scalars for each of the draft's", arguments: DraftSyntax.allCases)
    func isLinear(_ syntax: DraftSyntax) {
        var random = SeededGenerator(for: "work of \(syntax)")
        var units = Self.pieces
        for _ in 0..<10 {
            units.append((0..<3).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined())
        }
        for unit in units {
            let steps = [800, 1_600].map { size in
                let text = String(repeating: unit, count: size / unit.utf8.count)
                return DraftMask(DraftText(text, syntax: syntax)).steps
            }
            #expect(steps[1] <= 2 * steps[0] + 400 && steps[1] < 20 * 1_600, "\(unit.debugDescription): \(steps)")
        }
        // Runs of backticks of many lengths.
        let runs = DraftText((1...120).map { String(repeating: "`", count: $0) + " " }.joined(), syntax: syntax)
        #expect(DraftMask(runs).steps < 20 * runs.count)
    }

    @Test("An exempt place is found among hundreds")
    func exemptions() {
        let text = String(repeating: "<!-- tk: ignore wordy -->\n\nOne.\n\nTwo.\n\n", count: 500)
        let mask = DraftMask(DraftText(text))
        #expect(mask.exemptions.count == 500)
        let ones = text.unicodeScalars.enumerated().filter { $0.element == "O" }.map { $0.offset..<$0.offset + 3 }
        let twos = text.unicodeScalars.enumerated().filter { $0.element == "T" }.map { $0.offset..<$0.offset + 3 }
        #expect(ones.allSatisfy { mask.isExempt($0, rule: "wordy") && !mask.isExempt($0, rule: "passive") })
        #expect(!twos.contains { mask.isExempt($0, rule: "wordy") || mask.isExempt($0) })
    }
}
