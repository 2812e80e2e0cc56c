import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

/// House rules over changing drafts: they read only what has changed, and find what a whole reading finds. 15 rounds
/// for each format, 300 with `STEWARD_TEST_WHOLE=1`.
@Suite("House rules with a memory")
struct StyleMemoryTests {
    /// Of each kind, and for each scope.
    private static let rules = [
        "Very": "extends: existence\nmessage: \"%s\"\ntokens: [very, item]\n",
        "First": "extends: existence\nmessage: \"%s\"\nlimit: 2\ntokens: [so]\n",
        "Used": "extends: substitution\nmessage: \"%s\"\nswap: { utilized: used, in order to: to }\n",
        "Twice": "extends: repetition\nmessage: \"%s\"\nalpha: true\ntokens: ['[^\\s]+']\n",
        "Commas": "extends: occurrence\nmessage: m\nscope: sentence\nmax: 1\ntoken: ','\n",
        "Whole": "extends: occurrence\nmessage: m\nscope: summary\nmax: 20\ntoken: 'the'\n",
        "Heading": "extends: capitalization\nmessage: \"%s\"\nscope: heading\nmatch: $sentence\n",
        "Variants": "extends: consistency\nmessage: \"%s\"\neither: { advisor: adviser }\n",
        "Names":
            "extends: conditional\nmessage: \"%s\"\nfirst: '\\b([A-Z]{3,5})\\b'\nsecond: '\\(([A-Z]{3,5})\\)'\n",
    ]

    private static let pieces = [
        "It was was so. ", "in order to ", "very ", "an advisor, the adviser, ", "NASA ", "(NASA) ", "“", "*", "`",
        "\n",
        "\n\n", "\r\n", "> ", "- ", "| ", "# Another Heading\n", "\n---\n", "<!-- vale off -->\n", "<!-- tk: off -->",
        "```\n",
        "🐦", "é", ". ",
    ]

    private static let rounds = Thoroughness.isWhole ? 300 : 15

    private let folder: TemporaryFolder
    private let pass: StylePass

    init() throws {
        folder = try TemporaryFolder("style-memory")
        for (name, rule) in Self.rules { try folder.write(BytePath("styles/House/\(name).yml"), rule) }
        let settings = try folder.write(
            ".vale.ini", "StylesPath = styles\nMinAlertLevel = suggestion\n[*]\nBasedOnStyles = House\n")
        pass = StylePass(try StyleLibrary(settings: settings), quick: try quickPass())
    }

    private static func draft(_ syntax: DraftSyntax) throws -> String {
        let page = syntax == .markdown ? "docs/editors.md" : "docs/review.md"
        return try String(String(contentsOfFile: Checkout.root.text + "/" + page, encoding: .utf8).prefix(3_000))
    }

    @Test(
        "After any history of edits, the findings are those of the whole text",
        arguments: [.markdown, .plain, .restructuredText, .org, .asciidoc] as [DraftSyntax])
    func history(syntax: DraftSyntax) throws {
        var random = SeededGenerator(for: "styles' memory of \(syntax)")
        var text = Array(try Self.draft(syntax).unicodeScalars)
        let memory = StyleMemory()
        var ignored: Set<String> = []
        var count = 0
        for round in 0..<Self.rounds {
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let start = Int.random(in: 0...text.count, using: &random)
                let length = Bool.random(using: &random) ? 0 : Int.random(in: 0...40, using: &random)
                let new = Self.pieces.randomElement(using: &random) ?? ""
                text.replaceSubrange(start..<min(text.count, start + length), with: new.unicodeScalars)
            }
            if round % 5 == 4 { ignored = Bool.random(using: &random) ? ["House.Very"] : [] }
            var view = String.UnicodeScalarView()
            view.append(contentsOf: text)
            let draft = DraftText(String(view), syntax: syntax)
            let kept = pass.review(draft, file: "draft.md", ignoredRules: ignored, memory: memory).suggestions
            let whole = pass.review(draft, file: "draft.md", ignoredRules: ignored).suggestions
            count += whole.count
            #expect(kept == whole, "\(syntax), round \(round)")
            guard kept == whole else { return }
        }
        #expect(count > 0)
    }

    @Test("After an edit only its own paragraph is matched again")
    func reads() throws {
        let paragraphs = (1...60).map { "Paragraph \($0) is very long, and was was written." }
        let memory = StyleMemory()
        func names(_ paragraphs: [String]) throws -> Set<StyleReading.Unit> {
            let draft = DraftText(paragraphs.joined(separator: "\n\n") + "\n")
            _ = pass.review(draft, file: "draft.md", memory: memory)
            return Set(try #require(memory.latest).findings.keys)
        }
        let before = try names(paragraphs)
        var edited = paragraphs
        edited[30] = "Paragraph 31 is very short."
        let after = try names(["It is new."] + edited)
        // Each as a block, as a paragraph and as a sentence.
        #expect(before.count == 180 && after.subtracting(before).count == 6)
    }
}
