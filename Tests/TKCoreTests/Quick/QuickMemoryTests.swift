import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

/// The quick pass over changing drafts: it reads only what has changed, and finds what a whole reading finds. 15 rounds
/// for each format, 300 in longer drafts with `STEWARD_TEST_WHOLE=1`.
@Suite("Quick pass with a memory")
struct QuickMemoryTests {
    private let pass: QuickPass

    init() throws {
        let resources = TKResources(folder: Checkout.root.appending("Sources/Core/TK/TKCore/Resources"))
        // With the dictionaries that are installed, if there are any.
        let spelling = Spelling(resources: resources, home: nil, environment: [:])
        pass = try QuickPass(resources: resources, spelling: spelling)
    }

    private static let pieces = [
        "It was was so. ", "in order to ", "teh ", "We recieve it. ", "very very ", "“", "\"", "*", "**", "`", "```\n",
        "\n",
        "\n\n", "\r\n", "\r", "\t", "    ", "> ", "- ", "| ", "# ", "\n---\n", "===\n", "<!-- tk: off -->",
        "<!-- tk: ignore wordy -->\n", "<!--", "$$\n", "::\n\n", "\\begin{verbatim}\n", "#+BEGIN_SRC\n", "----\n",
        "---\nlang: fr\n---\n", "Der der Hund ist nicht nicht im Haus, und das ist gut so. ", "🐦", "é", ". ", ", ", "-",
    ]

    private static let rounds = Thoroughness.isWhole ? 300 : 15
    private static let size = Thoroughness.isWhole ? 9_000 : 1_500

    private static func text(_ page: String) throws -> String {
        try String(contentsOfFile: Checkout.root.text + "/" + page, encoding: .utf8)
    }

    private static func draft(_ syntax: DraftSyntax) throws -> String {
        switch syntax {
        case .plain: return try String(ProseCorpora.novel().prefix(size))
        case .markdown: return try String(Self.text("docs/editors.md").prefix(size))
        default: return try String(Self.text("docs/review.md").prefix(size))
        }
    }

    @Test(
        "After any history of edits and settings, the findings are those of the whole text",
        arguments: [.markdown, .plain, .restructuredText, .org, .latex, .asciidoc, .mdx] as [DraftSyntax])
    func history(syntax: DraftSyntax) throws {
        var random = SeededGenerator(for: "memory of \(syntax)")
        var text = Array(try Self.draft(syntax).unicodeScalars)
        let memory = QuickMemory()
        var settings = QuickPass.Settings()
        for round in 0..<Self.rounds {
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                // Near the ends as well: they are seen by what is next to them.
                let place = [0, text.count, Int.random(in: 0...text.count, using: &random)].randomElement(
                    using: &random)
                let start = place ?? 0
                let length = Bool.random(using: &random) ? 0 : Int.random(in: 0...40, using: &random)
                let new = Self.pieces.randomElement(using: &random) ?? ""
                text.replaceSubrange(start..<min(text.count, start + length), with: new.unicodeScalars)
            }
            if round % 5 == 4 {
                settings.roles = Bool.random(using: &random) ? ["technical_writer", "editor"] : []
                settings.longSentence = Int.random(in: 15...40, using: &random)
                settings.knownWords = Bool.random(using: &random) ? ["teh"] : []
                settings.strictRules = Bool.random(using: &random) ? QuickPass.strictRules : []
                settings.ignoredRules = Bool.random(using: &random) ? ["spelling"] : []
            }
            var view = String.UnicodeScalarView()
            view.append(contentsOf: text)
            let draft = DraftText(String(view), syntax: syntax)
            let kept = pass.review(draft, settings: settings, memory: memory).suggestions
            let whole = pass.suggestions(for: draft, settings: settings)
            #expect(kept == whole, "\(syntax), round \(round)")
            guard kept == whole else { return }
        }
    }

    @Test("After an edit only its own paragraph is read again, whatever has moved")
    func reads() throws {
        let paragraphs = (1...60).map { "Paragraph \($0) was was written\nin order to be read." }
        func draft(_ change: (inout [String]) -> Void) -> DraftText {
            var changed = paragraphs
            change(&changed)
            return DraftText(changed.joined(separator: "\n\n") + "\n")
        }
        let memory = QuickMemory()
        _ = pass.review(draft { _ in }, settings: .init(), memory: memory)
        let earlier = try #require(memory.latest)
        for (change, most) in [
            ({ $0[30] += " It is so." }, 1), ({ _ = $0.remove(at: 30) }, 0), ({ $0.insert("It is new.", at: 30) }, 1),
            ({ $0[0] = "Very " + $0[0] }, 1), ({ $0[59] += " The end." }, 1), ({ $0[30] = "```\nIt is code.\n```" }, 0),
        ] as [((inout [String]) -> Void, Int)] {
            let later = draft(change)
            let mask = DraftMask(later)
            let kept = try #require(KeptBlocks(of: earlier, in: later, mask, earlier.circumstances))
            #expect(mask.blocks.count { kept.reading(of: $0) == nil } <= most)
        }
    }
}
