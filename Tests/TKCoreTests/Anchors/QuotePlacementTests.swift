import TKCore
import TestSupport
import Testing

@Suite("Quotes in all scripts, and in repetitive texts", .timeLimit(.minutes(30)))
struct QuotePlacementTests {
    private static func found(_ quote: String, in text: String) -> String? {
        let draft = DraftText(text)
        let resolution = AnchorResolver(draft).find(quote)
        return resolution.isCertain ? resolution.range.map { draft[$0] } : nil
    }

    /// Whether two texts consist of the same scalars, which `==` does not check.
    private static func isSame(_ one: String?, _ other: String) -> Bool {
        one.map { $0.unicodeScalars.elementsEqual(other.unicodeScalars) } ?? false
    }

    @Test("A quote includes the invisible scalars of its last character, whether or not it contains them")
    func variation() {
        let text = "We love it \u{2764}\u{FE0F} and say so."
        #expect(Self.isSame(Self.found("love it \u{2764}\u{FE0F}", in: text), "love it \u{2764}\u{FE0F}"))
        #expect(Self.isSame(Self.found("love it \u{2764}", in: text), "love it \u{2764}\u{FE0F}"))
        #expect(
            Self.found("by 👩", in: "Made by 👩\u{200D}💻 alone.") == nil, "a part of a character is not the character")
        #expect(Self.isSame(Self.found("by 👩\u{200D}💻", in: "Made by 👩\u{200D}💻 alone."), "by 👩\u{200D}💻"))
    }

    @Test("Accented letters are equal, composed or not; unaccented ones differ")
    func accents() {
        let (composed, apart) = ("Un caf\u{E9} \u{1EC7} noir.", "Un cafe\u{301} e\u{323}\u{302} noir.")
        #expect(Self.isSame(Self.found("caf\u{E9} \u{1EC7}", in: apart), "cafe\u{301} e\u{323}\u{302}"))
        #expect(Self.isSame(Self.found("cafe\u{301} e\u{323}\u{302}", in: composed), "caf\u{E9} \u{1EC7}"))
        #expect(Self.isSame(Self.found("noir", in: apart), "noir"))
        for text in [composed, apart] { #expect(Self.found("Un cafe", in: text) == nil) }
        #expect(Self.isSame(Self.found("한국어", in: "이것은 한국어 입니다"), "한국어"))
    }

    @Test("An accepted change replaces whole characters")
    func whole() throws {
        let draft = DraftText("We love it \u{2764}\u{FE0F} and say so.")
        var accepted = try AdvisorFixture.suggestion("love it \u{2764}\u{FE0F}", "like it", in: draft)
        accepted.anchor.textHash = ""
        let moved = DraftText("First. " + draft.string)
        #expect(SuggestionApplier.apply([accepted], to: moved).text == "First. We like it and say so.")
    }

    @Test("A quote that occurs in thousands of places is found by its surroundings, or is ambiguous")
    func many() {
        var lines = (0..<5_000).map { "Line \($0): it is very good." }
        lines[3_000] = "Line 3000: here it is very rarely seen."
        let resolver = AnchorResolver(DraftText(lines.joined(separator: "\n")))
        guard case .ambiguous(let places) = resolver.find("very") else {
            Issue.record("found")
            return
        }
        #expect(places.count <= 1_024)
        let found = resolver.find("very", prefix: "Line 3000: here it is ", suffix: " rarely seen.")
        #expect(
            found.isCertain
                && found.range.map { DraftText(lines.joined(separator: "\n")).line(at: $0.lowerBound) } == 3_001)
        guard case .ambiguous = resolver.find("very", prefix: "whatever it was ", suffix: " nice of her") else {
            Issue.record("found in surroundings that do not agree")
            return
        }
    }

    @Test("Repetitive text costs no more than other text")
    func periodic() {
        let resolver = AnchorResolver(DraftText(String(repeating: "-", count: 300_000)))
        let quote = String(repeating: "-", count: 5_000) + "x" + String(repeating: "-", count: 5_000)
        #expect(resolver.find(quote) == .orphan)
        let anchor = TextAnchor(exact: quote, prefix: "", suffix: "", start: 0, end: 10_001, line: 1, textHash: "")
        #expect(resolver.resolve(anchor) == .orphan)
    }
}
