import TKCore
import TestSupport
import Testing

/// Copies with CriticMarkup, by hand and exported.
@Suite("CriticMarkup") struct CriticMarkupTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var draft: String
        var copy: String
        /// `author: words → wording: message`.
        var placed: [String]
        var unplaced: [String] = []
    }

    private static let unsaid = "Marked in a copy of the draft."

    static let cases: [Case] = [
        Case(
            testDescription: "A change with its reason and its author", draft: "We met in order to talk.\n",
            copy: "We met {~~in order to~>to~~}{>>@ann: shorter<<} talk.\n",
            placed: ["ann: in order to → to: shorter"]),
        Case(
            testDescription: "Words added, removed, and marked", draft: "We really met.\n",
            copy: "{++Today ++}We {--really --}{==met==}{>>When?<<}{>>@bob: And where?<<}.\n",
            placed: [
                "criticmarkup: We → Today We: \(unsaid)", "criticmarkup: really  → : \(unsaid)",
                "criticmarkup: met: When?", "bob: met: And where?",
            ]),
        Case(
            testDescription: "A comment is about the word before it, an addition at the end too", draft: "We met.\n",
            copy: "We{>>Who?<<} met.{++ Then we left.++}\n",
            placed: ["criticmarkup: We: Who?", "criticmarkup: met. → met. Then we left.: \(unsaid)"]),
        Case(
            testDescription: "The draft's own marks are its text",
            draft: "Write `{++x++}` to {--del--}add.\n\n    {>>no<<}\n\nWe met.\n",
            copy: "Write `{++x++}` to {--del--}add.\n\n    {>>no<<}\n\n{--We --}met.\n",
            placed: ["criticmarkup: We  → : \(unsaid)"]),
        Case(
            testDescription: "An older copy, and words that are gone",
            draft: "An intro.\n\nWe met in order to talk. Käse.\n",
            copy: "{==Old words==}{>>why<<} here.\n\nWe met {~~in order to~>to~~} talk. Käse{>>!<<}.\n",
            placed: ["criticmarkup: in order to → to: \(unsaid)", "criticmarkup: Käse: !"],
            unplaced: ["these words are not in the draft"]),
        Case(
            testDescription: "Unfinished marks are text", draft: "a {++ b {~~ c ~~} d.\n",
            copy: "a {++ b {~~ c ~~} {==d==}.\n", placed: ["criticmarkup: d: \(unsaid)"]),
        Case(
            testDescription: "A change of code is only a remark", draft: "Run `make all` now.\n",
            copy: "Run `make {~~all~>clean~~}` now.\n",
            placed: ["criticmarkup: all: \(unsaid) (The wording is left out: it would change code.)"]),
    ]

    private static func shown(_ suggestion: Suggestion) -> String {
        let words = "\(suggestion.advisorID): \(suggestion.originalText)"
        return (suggestion.hasReplacement ? "\(words) → \(suggestion.suggestedText)" : words)
            + ": \(suggestion.reasoning)"
    }

    @Test("Marks by hand become findings", arguments: cases) func byHand(_ one: Case) throws {
        let draft = DraftText(one.draft)
        let findings = try ReportFormat.read(Array(one.copy.utf8), about: draft)
        let (placed, unplaced) = FindingPlacer(draft).place(findings, origin: .added)
        #expect(placed.map(Self.shown) == one.placed && unplaced.map(\.reason) == one.unplaced)
    }

    // MARK: Export

    static let draft = DraftText(
        """
        ---
        title: In order to test
        ---

        # A heading

        We met in order to `run it` and to talk about the *old* town.

        - one item of a list with {++its own++} mark
        - another, see [the manual](https://example.org/in-order-to)

        | a cell | another |
        |--------|---------|
        | left   | right   |

        ```
        in order to
        ```

        Größe 😀 is the the Käse.

        """)

    private static func finding(
        _ range: Range<Int>, _ replacement: String?, _ reason: String, by author: String = "ann"
    ) -> ReportedFinding {
        ReportedFinding(author: author, message: reason, range: range, replacement: replacement)
    }

    /// What a finding is for a person.
    private struct Content: Hashable, CustomStringConvertible {
        let author: String
        let range: Range<Int>
        let words: String?
        let reason: String

        init(_ suggestion: Suggestion) {
            author = suggestion.advisorID
            range = suggestion.anchor.range
            words = suggestion.hasReplacement ? suggestion.suggestedText : nil
            reason = suggestion.reasoning
        }

        var description: String { "\(author) \(range) \(words ?? "-") \(reason)" }
    }

    /// Exports findings and reads the copy back: the same findings about the same draft.
    private static func goesRound(_ findings: [Suggestion]) throws -> CriticMarkupExport {
        let export = CriticMarkupExport(findings, in: draft)
        #expect(CriticMarkup(export.text, of: draft).original.unicodeScalars.elementsEqual(draft.scalars))
        let read = try ReportFormat.read(Array(export.text.utf8), as: .criticmarkup, about: draft)
        let (placed, unplaced) = FindingPlacer(draft).place(read, origin: .added)
        let leftOut = Set(export.leftOut.map { Content($0.suggestion) })
        let expected = Set(findings.map(Content.init)).subtracting(leftOut)
        #expect(Set(placed.map(Content.init)) == expected && unplaced.isEmpty, "\(export.text)")
        return export
    }

    @Test("Findings that are exported come back the same, and code stays whole") func roundTrip() throws {
        let text = Self.draft.string
        func range(_ words: String) throws -> Range<Int> {
            let found = try #require(text.firstRange(of: words))
            let start = text.unicodeScalars.distance(from: text.startIndex, to: found.lowerBound)
            return start..<start + words.unicodeScalars.count
        }
        let met = try range("in order to `run it`")
        let findings = [
            Self.finding(try range("the the"), "the", "Twice."), Self.finding(met, nil, "Why so long?", by: "bob"),
            Self.finding(try range("We met"), "", "Drop it."), Self.finding(try range("run it"), nil, "Which one?"),
            Self.finding(try range("left "), "far left ", "Say more."),
            Self.finding(try range("the the Käse"), nil, "Overlaps."),
            Self.finding(try range("the the"), nil, "Or what?", by: "bob"),
        ]
        let placed = FindingPlacer(Self.draft).place(findings, origin: .added).placed
        let export = try Self.goesRound(placed)
        #expect(export.leftOut.map(\.suggestion.originalText).sorted() == ["run it", "the the Käse"])
        #expect(export.text.contains("{~~the the~>the~~}{>>@ann: Twice.<<}{>>@bob: Or what?<<} Käse."))
        #expect(export.text.contains("{==in order to `run it`==}{>>@bob: Why so long?<<}"))
        #expect(export.text.contains("```\nin order to\n```") && export.text.contains("title: In order to test"))
    }

    @Test("Marks without an end are words, however many", arguments: ["{++", "{~~a", "{>>", "{~~a~>"])
    func endless(_ mark: String) {
        let copy = String(repeating: mark, count: 20_000)
        #expect(CriticMarkup(copy, of: DraftText("We met.\n")).findings.isEmpty)
        let read = CriticMarkup(copy + "{++more++}", of: DraftText("We met.\n"))
        #expect(read.findings.count == 1)
    }

    @Test("Whatever the findings, the copy without its marks is the draft") func anyFindings() throws {
        var random = SeededGenerator(for: "criticmarkup")
        let words = ["x", "", "a~>b", "--}", "{++", "~~}", "# y", "`", "\n\n", "{>>z<<}", "<<}", "|", "😀 naïve"]
        for _ in 0..<40 {
            let findings = (0..<12).map { _ -> ReportedFinding in
                let start = Int.random(in: 0..<Self.draft.count, using: &random)
                let end = min(Self.draft.count, start + Int.random(in: 1..<20, using: &random))
                let replacement = Bool.random(using: &random) ? words.randomElement(using: &random) : nil
                let reason = "It is \(words.randomElement(using: &random) ?? "") here."
                return Self.finding(start..<end, replacement, reason)
            }
            let placed = FindingPlacer(Self.draft).place(findings, origin: .added).placed
            let export = CriticMarkupExport(placed, in: Self.draft)
            let read = CriticMarkup(export.text, of: Self.draft)
            #expect(read.original.unicodeScalars.elementsEqual(Self.draft.scalars), "\(export.text)")
            #expect(read.findings.count == placed.count - export.leftOut.count, "\(export.text)")
        }
    }
}
