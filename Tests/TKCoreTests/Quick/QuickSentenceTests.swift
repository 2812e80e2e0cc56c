import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

/// Sentences of real documentation with the words that a good editor would put into them, judged one by one.
@Suite("The quick pass: sentences")
struct QuickSentenceTests {
    private let pass: QuickPass

    init() throws { pass = try quickPass() }

    @Test("Two hundred sentences get the right proposal, or none")
    func table() throws {
        let path = Checkout.root.appending("Tests/Fixtures/tk/quick-sentences.tsv").text
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        #expect(lines.count == 200)
        for line in lines {
            let fields = line.split(separator: "\t").map(String.init)
            try #require(fields.count == 3, "\(line)")
            let proposals = pass.suggestions(for: DraftText(fields[0])).filter(\.hasReplacement)
            let expected = fields[2] == "-" ? [] : ["\(fields[1]): \(fields[2])"]
            #expect(proposals.map { "\($0.rule ?? "?"): \($0.suggestedText)" } == expected, "\(fields[0])")
        }
    }

    @Test(
        "Words that would be damaged keep a remark at most",
        arguments: [
            ("This is required in order to be part of it.", []),
            ("We make a decision of whether it fits.", ["make a decision"]),
            ("It fails with the exception of type Error.", []), ("It runs for a period of time.", []),
            ("They are idle during a large number of hours is wrong.", ["a large number of"]),
            ("Users do have the ability to read.", []), ("It results in the absence of a file.", []),
            ("The fix was due to the fact that it failed.", []), ("This circuit has pin number 4.", []),
            ("It has two or more unique names.", []), ("He had come to the conclusion that it works.", []),
            ("We make use of it easier.", []),
            ("Although it should be noted that it works, we wait.", ["it should be noted that"]),
        ])
    func damage(text: String, quotes: [String]) {
        let found = pass.suggestions(for: DraftText(text))
        #expect(found.map(\.originalText) == quotes)
        #expect(!found.contains { $0.hasReplacement })
    }

    @Test(
        "A sentence ends where its reader would say so",
        arguments: [
            ("See permissions, encodings, etc. A bad command can be undone.", 2),
            ("See it (permissions, encodings, etc.). A bad command can be undone.", 2),
            ("Lists, trees, etc. are stored here.", 1), ("Lists (trees, etc.) are stored here.", 1),
            ("One works in commit A, another one in commit B. If both are merged, there is a conflict.", 2),
            ("It was said by J. A. Smith of Rome.", 1),
            ("See fig. 3, vs. The Book, and Mr. So of Rome.", 1), ("A. The first point stands here.", 1),
            ("He is as tall as I. When he stands up, we see it.", 2),
        ])
    func boundaries(text: String, count: Int) {
        let draft = DraftText(text)
        var tokens = ProseTokens()
        draft.scalars.withUnsafeBufferPointer { tokens.read($0, 0..<draft.count, pass.lexicon) }
        #expect(tokens.sentences.count == count)
    }

    @Test(
        "In reStructuredText a term and its definition are no sentence",
        arguments: [
            ("the\n   the first of them\nthe\n   the second one\n\nIt is is one.\n", ["is is"]),
            ("All of the\nthe same paragraph, and of an\n\n- item of the\n  the list\n", ["the\nthe", "the\n  the"]),
            ("-v, --very  It shows the\n            the rest.\n", ["the\n            the"]),
        ])
    func definitions(text: String, found: [String]) {
        let draft = DraftText(text, syntax: .restructuredText)
        #expect(pass.suggestions(for: draft).filter { $0.rule == "repeated-word" }.map(\.originalText) == found)
    }
}
