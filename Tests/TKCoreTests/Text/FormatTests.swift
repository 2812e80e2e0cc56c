import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

@Suite("Prose in formats other than Markdown", .timeLimit(.minutes(30)))
struct FormatTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var syntax: DraftSyntax
        var name: String
        var text: String
        var prose: String
        var testDescription: String { "\(syntax.title): \(name)" }

        init(_ syntax: DraftSyntax, _ name: String, _ text: String, _ prose: String) {
            (self.syntax, self.name, self.text, self.prose) = (syntax, name, text, prose)
        }
    }

    static let cases = [
        Case(.asciidoc, "a listing", "One\n\n[source,sh]\n----\nvery code\n----\n\nTwo", "One Two"),
        Case(.asciidoc, "a literal", "One\n\n....\nvery\n....\nTwo", "One Two"),
        Case(.asciidoc, "a paragraph of source", "[source]\nvery code\nmore of it\n\nTwo", "Two"),
        Case(.asciidoc, "an indented paragraph", "One\n\n very code\n\nTwo", "One Two"),
        Case(.asciidoc, "comments", "One\n// very\n\n////\nvery\n////\nTwo", "One Two"),
        Case(.asciidoc, "attributes and a title", "= A title\n:toc: very\n\nOne {very} two", "A title One two"),
        Case(.asciidoc, "a table", "One\n\n|===\n|very |so\n|===\n\nTwo", "One Two"),
        Case(.asciidoc, "macros", "See https://x.y[very] and xref:very.adoc[so], image:very.png[x] now", "See and now"),
        Case(.asciidoc, "marks of code", "Use `very` and `+so+` now", "Use and now"),
        Case(.asciidoc, "anchors and references", "[[very]]\nSee <<very,so>> now", "See now"),
        Case(.asciidoc, "lists", "* One\n** Two\n. Three\n", "One Two Three"),
        Case(.asciidoc, "a block of prose", "====\nOne\n====\n\nNOTE: Two", "One NOTE Two"),
        Case(.restructuredText, "a literal block", "One::\n\n    very code\n    more\n\nTwo", "One Two"),
        Case(.restructuredText, "a code block", "One\n\n.. code-block:: sh\n   :linenos:\n\n   very\n\nTwo", "One Two"),
        Case(.restructuredText, "an admonition", "One\n\n.. note::\n\n   Two three\n\nFour", "One Two three Four"),
        Case(.restructuredText, "a comment", "One\n\n.. very\n   so\n\nTwo", "One Two"),
        Case(.restructuredText, "a target", "One\n\n.. _very: https://x.y\n\nTwo", "One Two"),
        Case(.restructuredText, "a doctest", "One\n\n>>> very(1)\nso\n\nTwo", "One Two"),
        Case(.restructuredText, "tables", "==== ====\nvery so\n==== ====\n\n+---+\n| a |\n+---+\n\nTwo", "Two"),
        Case(
            .restructuredText, "roles and references", "See :func:`very` and ``so`` and `text <very>`_ and name_ now",
            "See and and and now"),
        Case(
            .restructuredText, "a heading and fields", "Title here\n==========\n\n:Author: very\n\nOne",
            "Title here One"),
        Case(.org, "a source block", "One\n#+BEGIN_SRC sh\nvery\n#+END_SRC\nTwo", "One Two"),
        Case(.org, "an example in lower case", "One\n#+begin_example\nvery\n#+end_example\nTwo", "One Two"),
        Case(.org, "keywords, comments and fixed width", "#+TITLE: very\n# very\n: very\nOne", "One"),
        Case(
            .org, "a heading with tags and a drawer", "* One two :very:\n:PROPERTIES:\n:ID: very\n:END:\nThree",
            "One two Three"),
        Case(.org, "links and marks", "See [[very][so]] and ~very~ and =so= now", "See and and now"),
        Case(.org, "a table and a time stamp", "| very |\n\nOn <2026-11-22 Sun> we met", "On we met"),
        Case(.latex, "the preamble", "\\documentclass{very}\n\\begin{document}\nOne\n\\end{document}\nvery", "One"),
        Case(.latex, "comments", "One % very\n% so\nTwo", "One Two"),
        Case(
            .latex, "emphasis and sections", "\\section{One}\nTwo \\emph{three} four\\footnote{Five}.",
            "One Two three four Five"),
        Case(
            .latex, "references", "See \\ref{very} and \\cite[p.~2]{so} and \\href{very}{text} now",
            "See and and text now"),
        Case(
            .latex, "formulas", "Let $very$ be \\(so\\) and\n\\[very\\]\n\\begin{align}very\\end{align}\nTwo",
            "Let be and Two"),
        Case(.latex, "listings", "One\n\\begin{verbatim}\nvery\n\\end{verbatim}\n\\verb|so| Two", "One Two"),
        Case(.latex, "lists", "\\begin{itemize}\n\\item One\n\\item Two\n\\end{itemize}", "One Two"),
        Case(.mdx, "imports and exports", "import Very from './very'\nexport const so = 1\n\nOne", "One"),
        Case(
            .mdx, "elements over several lines", "One\n\n<Very\n  items={['so', 'a > b']}\n>\n\nTwo\n\n</Very>\n",
            "One Two"),
        Case(.mdx, "expressions", "One {very.so} two\n\n{/* very */}\n\nThree", "One two Three"),
        Case(.mdx, "Markdown", "One `very` two", "One two"),
        Case(.unknown, "nothing", "One two three.", ""),
    ]

    @Test("Only the author's words stay", arguments: cases)
    func masks(_ example: Case) {
        #expect(proseWords(example.text, example.syntax) == example.prose)
    }

    @Test(
        "The mask has the draft's length and its line endings, whatever the lines contain",
        arguments: DraftSyntax.allCases
    )
    func length(_ syntax: DraftSyntax) {
        var random = SeededGenerator(for: "formats")
        let pieces = [
            "word", " ", "\n", "\r\n", "\n\n", "----\n", "::\n", "   ", "[", "]", "{", "}", "\\", "$", "%",
            "#+BEGIN_SRC\n", ".. ",
            "`", "<A ", ">", "|===\n", "* ", "_", ":", "\\begin{verbatim}", "\\item ", "import x\n", "==== ====\n",
            "é🙂",
        ]
        for _ in 0..<60 {
            let text = (0..<60).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let draft = DraftText(text, syntax: syntax)
            let mask = DraftMask(draft)
            #expect(mask.scalars.count == draft.count)
            for (index, scalar) in draft.scalars.enumerated() {
                let isEnd = scalar == "\n" || scalar == "\r"
                #expect(isEnd == (mask.scalars[index] == "\n" || mask.scalars[index] == "\r"))
                if mask.kind(at: index) == .prose { #expect(mask.scalars[index] == scalar) }
            }
            for block in mask.blocks {
                #expect(block.range.lowerBound < block.range.upperBound && block.range.upperBound <= draft.count)
            }
        }
    }

    @Test(
        "Unclosed markup costs no more than other text", arguments: DraftSyntax.allCases,
        ["[", "{", "\\a{", "`", "<A ", "[[", "$", "|", "::\n", "#+BEGIN_SRC\n", "\\begin{a}\n", "----\n", "a\n", "- "])
    func hostile(syntax: DraftSyntax, unit: String) {
        let draft = DraftText(String(repeating: unit, count: 12_000 / unit.utf8.count), syntax: syntax)
        #expect(DraftMask(draft).scalars.count == draft.count)
    }

    @Test(
        "A format is recognised by its name's ending, or else by how it begins",
        arguments: [
            ("a.md", "x", DraftSyntax.markdown), ("a.MDX", "x", .mdx), ("a.adoc", "x", .asciidoc),
            ("a.rst", "x", .restructuredText),
            ("a.org", "x", .org), ("a.tex", "x", .latex), ("a.txt", "One two.", .plain), ("README", "One", .markdown),
            ("a.html", "x", .unknown), ("a.py", "x", .unknown), ("a.draft", "One", .markdown),
            ("a.txt", "= Title\n:toc:\n\nOne", .asciidoc), ("a.txt", ".. note::\n\n   x", .restructuredText),
            ("a", "\\documentclass{x}\n", .latex), ("a", "#!/bin/sh\n", .unknown), ("a", "<!DOCTYPE html>\n", .unknown),
            ("a", "#+TITLE: x\n", .org),
        ])
    func told(name: String, text: String, syntax: DraftSyntax) {
        #expect(DraftSyntax.of(BytePath(name), text) == syntax)
    }

    @Test(
        "A proposal changes words in every format, but only in prose",
        arguments: [
            (DraftSyntax.asciidoc, "One very good.\n\n----\nrm x\n----\n", "rm x"),
            (.restructuredText, "One very good::\n\n   rm x\n", "rm x"),
            (.org, "One very good.\n#+BEGIN_SRC sh\nrm x\n#+END_SRC\n", "rm x"),
            (.latex, "One very good \\cite{rm}.\n", "rm"),
            (.mdx, "One very good.\n\nexport const x = 'rm'\n", "rm"), (.plain, "One very good.\n\n  $ rm x\n", "rm x"),
        ])
    func gate(syntax: DraftSyntax, text: String, code: String) throws {
        let draft = DraftText(text, syntax: syntax)
        let accepted = [
            try AdvisorFixture.suggestion("very good", "good", in: draft),
            try AdvisorFixture.suggestion(code, "sudo", in: draft),
        ]
        let result = SuggestionApplier.apply(accepted, to: draft)
        #expect(result.text == text.replacing("very good", with: "good") && result.refused == [accepted[1]])
        let unknown = DraftText(text, syntax: .unknown)
        #expect(SuggestionApplier.apply(accepted, to: unknown).text == text)
    }
}
