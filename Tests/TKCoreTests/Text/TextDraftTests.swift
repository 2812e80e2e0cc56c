import Testing

@testable import TKCore

@Suite("Positions in a draft")
struct TextDraftTests {
    @Test("Lines end at LF, CRLF and lone CR")
    func lines() {
        let draft = DraftText("one\ntwo\r\nthree\rfour")
        #expect(draft.lineCount == 4)
        #expect((1...4).map { draft[draft.textRange(ofLine: $0)] } == ["one", "two", "three", "four"])
        #expect(draft.line(at: 0) == 1)
        #expect(draft.line(at: 4) == 2)
        #expect(draft.line(at: draft.count) == 4)
        #expect(DraftText("").lineCount == 1)
        #expect(DraftText("one\n").lineCount == 1)
    }

    @Test("Columns count scalars, and bytes for rdjsonl")
    func columns() {
        let draft = DraftText("aé🙂b\nnaïve")
        #expect(draft.column(at: 3) == 4)
        #expect(draft.utf8Column(at: 3) == 8)
        #expect(draft.utf8Column(at: 5 + 3) == 5)
        #expect(draft.offset(line: 2, column: 4) == 8)
        #expect(draft.offset(line: 2, column: 6) == 10)
        #expect(draft.offset(line: 2, column: 7) == nil)
        #expect(draft.offset(line: 3, column: 1) == nil)
    }

    @Test("Distant positions are found like near ones", arguments: [0, 1, 63, 64, 65, 127, 128, 1_000])
    func farPositions(count: Int) {
        let draft = DraftText(String(repeating: "é", count: count) + "x")
        #expect(draft.utf8Offset(of: count) == 2 * count)
        #expect(draft.utf8Offset(of: count + 1) == 2 * count + 1)
    }

    @Test("An anchor splits no CRLF and no grapheme cluster")
    func graphemes() {
        let family = "👨‍👩‍👧"
        let draft = DraftText("a\r\n\(family)e\u{301}z")
        #expect(draft.graphemeRange(around: 2..<3) == 1..<3)
        #expect(draft.anchor(of: 4..<5).exact == family)
        #expect(draft.graphemeRange(around: 8..<9) == 8..<10)
        #expect(draft.graphemeRange(around: 10..<11) == 10..<11)
    }

    @Test("An anchor holds 32 scalars on either side")
    func anchors() {
        let draft = DraftText(String(repeating: "x", count: 50) + "QUOTE" + String(repeating: "y", count: 10))
        let anchor = draft.anchor(of: 50..<55)
        #expect(anchor.exact == "QUOTE")
        #expect(anchor.prefix == String(repeating: "x", count: 32))
        #expect(anchor.suffix == String(repeating: "y", count: 10))
        #expect(anchor.textHash == DraftText(draft.string).hash)
    }

    @Test("A finding's id survives changes of markup, of spaces and of distant text")
    func identity() {
        let one = FindingIdentity.id(maker: "wordy", quote: "in order to", before: "we did it ", after: " see the end")
        let same = FindingIdentity.id(
            maker: "wordy", quote: "In *order*\nto", before: "Long ago, we did it ", after: " see the end of it")
        #expect(one == same)
        #expect(
            one
                != FindingIdentity.id(
                    maker: "wordy", quote: "in order to", before: "they did it ", after: " see the end"))
        #expect(one.count == 12)
        let accents = ["r\u{E9}sum\u{E9}", "re\u{301}sume\u{301}"].map {
            FindingIdentity.id(maker: "wordy", quote: $0, before: "the \($0) ", after: " of \($0)")
        }
        #expect(accents[0] == accents[1])
    }
}
