import TKCore
import TestSupport
import Testing

@Suite("Applying accepted suggestions", .timeLimit(.minutes(30)))
struct ApplyTests {
    static let text = """
        First, the system can be utilized to process data.

        It is very slow, and it is very good. We like it.

        """
    static let draft = DraftText(text)

    static func suggestion(
        _ quote: String, _ replacement: String?, occurrence: Int = 0, priority: Int = 2
    ) throws -> Suggestion {
        try AdvisorFixture.suggestion(quote, replacement, in: draft, occurrence: occurrence, priority: priority)
    }

    @Test("All of a batch is applied at its positions, in any order")
    func several() throws {
        let accepted = [
            try Self.suggestion("We like it.", "We love it, all of us."), try Self.suggestion("utilized", "used"),
            try Self.suggestion("very ", "", occurrence: 1),
        ]
        let result = SuggestionApplier.apply(accepted, to: Self.draft)
        #expect(
            result.text == "First, the system can be used to process data.\n\n"
                + "It is very slow, and it is good. We love it, all of us.\n")
        #expect(result.appliedCount == 3 && result.reports.map(\.suggestion) == accepted)
    }

    @Test("Of overlapping ones the most important is applied, the rest are conflicts; equal ones are one")
    func overlaps() throws {
        let accepted = [
            try Self.suggestion("can be utilized", "is used", priority: 3),
            try Self.suggestion("utilized", "used", priority: 1),
            try Self.suggestion("be utilized", "be used", priority: 4),
            try Self.suggestion("to process data", "for data"),
            try Self.suggestion("We like it.", nil),
        ]
        let result = SuggestionApplier.apply(accepted, to: Self.draft)
        #expect(result.text == Self.text.replacing("utilized to process data", with: "used for data"))
        #expect(result.conflicts == [accepted[0]] && result.withoutWording == [accepted[4]])
        #expect(result.reports[0].outcome == .conflict(with: accepted[1].id))
        #expect(result.applied == [accepted[1], accepted[2], accepted[3]])
    }

    @Test("In a text that changed elsewhere, the right one of several equal quotes is found, or none")
    func moved() throws {
        let accepted = [try Self.suggestion("very", "rather", occurrence: 1), try Self.suggestion("utilized", "used")]
        let changed = DraftText("A new beginning, and it is very long.\n\n" + Self.text)
        let result = SuggestionApplier.apply(accepted, to: changed)
        #expect(
            result.text.contains("it is very long") && result.text.contains("It is very slow, and it is rather good."))
        #expect(result.appliedCount == 2)
        let previous = SuggestionApplier.apply(accepted, to: changed, previous: Self.draft)
        #expect(previous.text == result.text)
    }

    @Test("Applying twice equals applying once")
    func twice() throws {
        let accepted = [
            try Self.suggestion("utilized", "used"), try Self.suggestion("very ", "", occurrence: 0),
            try Self.suggestion("good", "very, very good"),
            try Self.suggestion("We like it.", "We like it. Very much."),
        ]
        let once = SuggestionApplier.apply(accepted, to: Self.draft)
        #expect(once.appliedCount == 4)
        let again = SuggestionApplier.apply(accepted, to: DraftText(once.text))
        #expect(again.text == once.text && again.alreadyThere == accepted, "\(again.reports.map(\.outcome))")
    }

    @Test("Missing words are orphaned, changed ones have drifted: neither is touched")
    func gone() throws {
        let accepted = [
            try Self.suggestion("the system can be utilized to process data", "the system processes data"),
            try Self.suggestion("slow", "sluggish"),
        ]
        let changed = DraftText(
            "First, the system can be utilised to process data.\n\nIt is very quick, and it is very good. We like it.\n"
        )
        let result = SuggestionApplier.apply(accepted, to: changed)
        #expect(result.text == changed.string)
        #expect(result.drifted == [accepted[0]] && result.orphaned == [accepted[1]], "\(result.reports.map(\.outcome))")
    }

    @Test("Line endings are kept: a proposal of several lines gets the text's own")
    func lineEndings() throws {
        let crlf = DraftText("One.\r\nTwo.\r\n")
        let accepted = [try AdvisorFixture.suggestion("Two.", "Two.\nThree.", in: crlf)]
        #expect(SuggestionApplier.apply(accepted, to: crlf).text.utf8.elementsEqual("One.\r\nTwo.\r\nThree.\r\n".utf8))
        let lf = DraftText("One.\nTwo.\n")
        let edited = [try AdvisorFixture.suggestion("Two.", "Two.\r\nThree.", in: lf)]
        #expect(SuggestionApplier.apply(edited, to: lf).text.utf8.elementsEqual("One.\nTwo.\nThree.\n".utf8))
    }

    @Test("Thousands of suggestions are merged and applied in a few passes")
    func thousands() {
        let draft = DraftText((0..<6_000).map { "Line \($0) is very good here.\n" }.joined())
        var all: [Suggestion] = []
        for line in 1...6_000 {
            let start = draft.range(ofLine: line).lowerBound
            let word = start + "Line \(line - 1) is ".count
            for (range, text) in [(word..<word + 5, ""), (word..<word + 9, "good"), (start..<start + 4, "Row")] {
                let anchor = draft.anchor(of: range)
                all.append(
                    Suggestion(
                        id: "\(all.count)", advisorID: "a\(text)", type: .improve, category: "style", priority: 2,
                        confidence: 0.5, originalText: anchor.exact, suggestedText: text, hasReplacement: true,
                        reasoning: "", anchor: anchor))
            }
        }
        let merged = SuggestionMerger.merge(all, of: draft)
        #expect(merged.count == 12_000)
        let result = SuggestionApplier.apply(all, to: draft)
        #expect(result.text == (0..<6_000).map { "Row \($0) is good here.\n" }.joined())
        #expect(result.appliedCount == 18_000)
    }

    @Test("Whatever is accepted, everything outside the quotes is unchanged, scalar by scalar")
    func outside() {
        var random = SeededGenerator(for: "apply")
        let alphabet = ["alpha", "béta", "🙂", "\n", "\n\n", " ", "“q”", "- ", "e\u{301}", "漢字"]
        for _ in 0..<150 {
            let words = (0..<60).map { _ in alphabet.randomElement(using: &random) ?? "" }
            let draft = DraftText(words.joined())
            var accepted: [Suggestion] = []
            for index in 0..<8 {
                let start = Int.random(in: 0..<draft.count, using: &random)
                let end = min(draft.count, start + Int.random(in: 1...12, using: &random))
                let anchor = draft.anchor(of: start..<end)
                accepted.append(
                    Suggestion(
                        id: "\(index)", advisorID: "a", type: .improve, category: "style",
                        priority: Int.random(in: 1...5, using: &random), confidence: 0.5, originalText: anchor.exact,
                        suggestedText: ["", "X\n", anchor.exact + "Y"].randomElement(using: &random) ?? "",
                        hasReplacement: true, reasoning: "", anchor: anchor))
            }
            let result = SuggestionApplier.apply(accepted, to: draft)
            // Removing the applied ranges from the old text leaves the remaining text of the new one, in order. A
            // suggestion that produces the same text as a more important one is applied with it, over its own range.
            var made: [(range: Range<Int>, words: String)] = []
            let byImportance = result.reports.sorted { SuggestionOrder.byImportance($0.suggestion, $1.suggestion) }
            for report in byImportance {
                guard case .applied(let range) = report.outcome, !made.contains(where: { $0.range.overlaps(range) })
                else { continue }
                made.append((range, report.suggestion.suggestedText))
            }
            var rest = Array(result.text.unicodeScalars)[...]
            var position = 0
            for (range, words) in made.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
                let kept = draft.scalars[position..<range.lowerBound]
                #expect(rest.starts(with: kept))
                rest = rest.dropFirst(kept.count + words.unicodeScalars.count)
                position = range.upperBound
            }
            #expect(rest.elementsEqual(draft.scalars[position...]))
            #expect(result.reports.count == accepted.count && result.appliedCount > 0)
        }
    }
}

@Suite("Suggestions whose words have changed", .timeLimit(.minutes(30)))
struct ApplyDriftTests {
    static let before = DraftText(
        "Intro.\n\nFirst, the system can be utilized to process data in many ways. A second sentence stands behind it.\n\nEnd.\n"
    )
    static let now = DraftText(
        "Intro.\n\nFirst, the system can be utilised to process our data in many ways. A second sentence stands behind it.\n\nEnd.\n"
    )

    static func apply(_ passage: String) async throws -> (result: SuggestionApplier.Result, server: ScriptedServer) {
        let server = try ScriptedServer(AdvisorFixture.answer(#"{"applies":true,"passage":"\#(passage)"}"#))
        let merger = DriftMerger(model: try AdvisorFixture.access(server), prompts: try AdvisorFixture.prompts())
        let accepted = try AdvisorFixture.suggestion(
            "the system can be utilized to process data in many ways", "the system processes data in many ways",
            in: before)
        return (try await SuggestionApplier.apply([accepted], to: now, merging: merger), server)
    }

    @Test("A model adapts the change, and everything else stays")
    func merged() async throws {
        let (result, server) = try await Self.apply(
            "First, the system processes our data in many ways. A second sentence stands behind it.")
        #expect(
            result.text
                == "Intro.\n\nFirst, the system processes our data in many ways. A second sentence stands behind it.\n\nEnd.\n"
        )
        guard case .merged = result.reports[0].outcome else {
            Issue.record("\(result.reports)")
            return
        }
        #expect(server.requests[0].body.contains("BEGIN passage"))
        #expect(!server.requests[0].body.contains("Intro."))
    }

    @Test(
        "An answer that changes more than a window around the words, or is invalid, is rejected",
        arguments: [
            "First, the system processes our data in many ways. Another sentence is what stands behind it now.",
            "The system processes our data.", "Ignore.", "",
            "First, the system processes our data in many ways. A second sentence stands behind it.\\n\\nBuy now!",
            "First, the system processes \(String(repeating: "x", count: 300)) our data in many ways. A second sentence stands behind it.",
        ])
    func rejected(_ passage: String) async throws {
        let (result, _) = try await Self.apply(passage)
        #expect(result.text == Self.now.string && result.drifted.count == 1 && result.reports[0].note != nil)
    }

    @Test("A model that returns the passage unchanged has not made the change")
    func unchanged() async throws {
        let (result, _) = try await Self.apply(
            "First, the system can be utilised to process our data in many ways. A second sentence stands behind it.")
        #expect(result.text == Self.now.string && result.alreadyThere.isEmpty && result.drifted.count == 1)
        #expect(result.reports[0].note?.contains("as it is") == true)
    }

    @Test("A passage of several lines keeps its CRLF, even though models answer with LF")
    func returns() async throws {
        func wrapped(_ text: DraftText) -> DraftText {
            DraftText(text.string.replacing(" A second", with: "\nA second").replacing("\n", with: "\r\n"))
        }
        let server = try ScriptedServer(
            AdvisorFixture.answer(
                #"{"applies":true,"passage":"First, the system processes our data in many ways.\nA second sentence stands"#
                    + #" behind it.\n"}"#))
        let merger = DriftMerger(model: try AdvisorFixture.access(server), prompts: try AdvisorFixture.prompts())
        let accepted = try AdvisorFixture.suggestion(
            "the system can be utilized to process data in many ways", "the system processes data in many ways",
            in: wrapped(Self.before))
        let result = try await SuggestionApplier.apply([accepted], to: wrapped(Self.now), merging: merger)
        #expect(
            result.text.utf8.elementsEqual(
                ("Intro.\r\n\r\nFirst, the system processes our data in many ways.\r\nA second sentence stands behind "
                    + "it.\r\n\r\nEnd.\r\n").utf8), "\(result.reports)")
    }

    @Test("Without an answer the suggestion remains drifted, with the reason; others are applied")
    func failing() async throws {
        let server = try ScriptedServer(.reply(500, #"{"error":"out of memory"}"#))
        let merger = DriftMerger(model: try AdvisorFixture.access(server), prompts: try AdvisorFixture.prompts())
        let accepted = [
            try AdvisorFixture.suggestion(
                "the system can be utilized to process data in many ways", "the system processes data", in: Self.before),
            try AdvisorFixture.suggestion("A second sentence stands behind it.", "So much for that.", in: Self.before),
        ]
        let result = try await SuggestionApplier.apply(accepted, to: Self.now, merging: merger)
        #expect(
            result.text == Self.now.string.replacing("A second sentence stands behind it.", with: "So much for that."))
        #expect(result.drifted.count == 1 && result.reports[0].note?.contains("out of memory") == true)
    }
}
