import Testing

@testable import TKCore

@Suite("Finding a quote again")
struct AnchorTests {
    /// Occurrences within words count as well: `everybody` contains `very`.
    private func anchor(_ quote: String, in text: String, occurrence: Int = 0) throws -> TextAnchor {
        let draft = DraftText(text)
        var found: [Range<Int>] = []
        let quote = Array(quote.unicodeScalars)
        for start in 0...(draft.count - quote.count) where Array(draft.scalars[start..<start + quote.count]) == quote {
            found.append(start..<start + quote.count)
        }
        return draft.anchor(of: try #require(found.indices.contains(occurrence) ? found[occurrence] : nil))
    }

    static let text = """
        The first paragraph says that the tool is very useful for everybody who writes.

        A second one says that it is very slow, and that nobody should wait for it any longer.
        """

    @Test("The same text returns the anchor's own offsets")
    func unchanged() throws {
        let anchor = try anchor("very", in: Self.text, occurrence: 2)
        #expect(AnchorResolver(DraftText(Self.text)).resolve(anchor) == .unchanged(anchor.range))
    }

    @Test("Of two equal phrases the one with the anchor's context is chosen")
    func context() throws {
        let anchor = try anchor("very", in: Self.text, occurrence: 2)
        let changed = DraftText("A new title\n\nvery good\n\n" + Self.text)
        let found = try #require(AnchorResolver(changed).resolve(anchor).range)
        #expect(changed[found.upperBound..<found.upperBound + 5] == " slow")
    }

    @Test("A short phrase without its context is an orphan, wherever else it occurs")
    func orphan() throws {
        let anchor = try anchor("very", in: Self.text, occurrence: 2)
        let changed = DraftText("The first paragraph says that the tool is very useful for everybody who writes.\n")
        #expect(AnchorResolver(changed).resolve(anchor) == .orphan)
    }

    @Test("Phrases in equal surroundings are ambiguous")
    func ambiguous() throws {
        let line = "- this is a very long line that stands here twice, and more\n"
        let anchor = try anchor("very", in: line + line + line, occurrence: 1)
        let changed = DraftText("Title\n\n" + line + line + line)
        guard case .ambiguous(let places) = AnchorResolver(changed).resolve(anchor) else {
            Issue.record("not ambiguous")
            return
        }
        #expect(places.count >= 2)
    }

    @Test("A twin whose surroundings look more like the original is not mistaken for the edited quote")
    func twin() throws {
        let badges = (1...4).map { "[![build](https://ci.example/badge/\($0)/passing)](https://ci.example/\($0))\n" }
        let old = DraftText("# Tool\n\n" + badges.joined() + "\nWhat the tool does.\n")
        let third = try anchor("passing", in: old.string, occurrence: 2)
        let edited = old.string.replacing("badge/3/passing)](", with: "badge/three/passing?style=flat)](")
        let resolver = AnchorResolver(DraftText(edited))
        #expect(!resolver.resolve(AnchorResolver(old).distinct(third)).isCertain)
        let moved = DraftText("New title\n" + old.string.replacing("badge/3/", with: "badge/three/"))
        let found = AnchorResolver(moved).resolve(AnchorResolver(old).distinct(third))
        #expect(found.range.map { moved[$0.upperBound..<$0.upperBound + 24] } == ")](https://ci.example/3)")
    }

    @Test("A quote of which only a twin is left is ambiguous")
    func onlyTheTwin() throws {
        let old = DraftText("- see the manual of the tool, first\n- see the manual of the tool, second\n")
        let first = AnchorResolver(old).distinct(try anchor("manual", in: old.string, occurrence: 0))
        let left = DraftText("- see the guide of the tool, first\n- see the manual of the tool, second\n")
        #expect(!AnchorResolver(left).resolve(first).isCertain)
    }

    @Test("Reflowed text with other quotation marks is found, and reported as such")
    func normalised() throws {
        let anchor = try anchor(
            "\"very well\" - said", in: "Here he wrote \"very well\" - said the other, and went away.")
        let changed = DraftText("Here he wrote\n“very\nwell” – said the other, and went\naway.")
        let resolution = AnchorResolver(changed).resolve(anchor)
        guard case .normalised(let range) = resolution else {
            Issue.record("\(resolution)")
            return
        }
        #expect(changed[range] == "“very\nwell” – said")
        #expect(resolution.isCertain)
    }

    @Test("A long quote with a small change is found, but not with certainty")
    func fuzzy() throws {
        let anchor = try anchor("nobody should wait for it any longer", in: Self.text)
        let changed = DraftText(Self.text.replacing("wait for it any longer", with: "wait for it much longer"))
        let resolution = AnchorResolver(changed).resolve(anchor)
        guard case .fuzzy(let range, let score) = resolution else {
            Issue.record("\(resolution)")
            return
        }
        #expect(changed[range] == "nobody should wait for it much longer")
        #expect(score >= 0.8)
        #expect(!resolution.isCertain)
    }

    @Test("A short quote with a change is an orphan")
    func noShortFuzzy() throws {
        let anchor = try anchor("very slow", in: Self.text)
        #expect(
            AnchorResolver(DraftText(Self.text.replacing("very slow", with: "very slew"))).resolve(anchor) == .orphan)
    }

    @Test("With the previous text, even equal lines can be told apart")
    func mapped() throws {
        let line = "- very long line\n"
        let old = DraftText("Begin here with words\n" + line + "middle of the text\n" + line + "End here with words\n")
        let place = try anchor("very", in: old.string, occurrence: 1)
        let new = DraftText(
            "Begin here with words\n" + line + "a new line\nmiddle of the text\n" + line + "End here with words\n")
        let resolution = AnchorResolver(new, previous: old).resolve(place)
        #expect(resolution == .mapped(place.start + 11..<place.end + 11))
    }

    @Test("A word beside the change is not carried over by comparison: its twin may be the one that stayed")
    func besideAChange() {
        let first = "The first line stays as it is.\n"
        let old = DraftText(first + "Ten pages are very useful for everybody who writes.\nSo is the last line.\n")
        let new = DraftText(first + "Two books were very useful for everybody who writes.\nSo is the last line.\n")
        let map = OffsetMap(from: old, to: new)
        func carried(_ word: String) -> String? {
            let (all, word) = (old.scalars, Array(word.unicodeScalars))
            let start = all.indices.first { all[$0...].starts(with: word) } ?? 0
            return map.range(of: start..<start + word.count).map { new[$0] }
        }
        #expect(carried("very") == nil && carried("useful") == nil)
        for word in ["The", "first", "everybody", "last", "line.\n"] { #expect(carried(word) == word) }
    }

    @Test("An anchor's quote outweighs its position: a sidecar may have been written by hand")
    func wrongPlace() throws {
        let old = DraftText("Begin here with words\nmiddle of the text\nEnd here with words\n")
        var place = try anchor("middle", in: old.string)
        place.exact = "Begin"
        let new = DraftText("A title\n" + old.string)
        let found = AnchorResolver(new, previous: old).resolve(place)
        #expect(found.range.map { new[$0] } != "middle", "\(found)")
        #expect(!found.isCertain || found.range.map { new[$0] } == "Begin", "\(found)")
    }

    @Test("A part of a word is not the word")
    func wholeWords() {
        #expect(AnchorResolver(DraftText("every day")).find("very") == .orphan)
        #expect(AnchorResolver(DraftText("a very good day")).find("very").range == 2..<6)
    }

    @Test("A model's quote is found literally, or up to typography, or not at all")
    func modelQuotes() {
        let resolver = AnchorResolver(DraftText("It’s a “good”\nday. It's nice. It's nice."))
        #expect(resolver.find("It's a \"good\" day").range == 0..<17)
        #expect(resolver.find("It's a bad day") == .orphan)
        #expect(resolver.find("It's nice") == .ambiguous([19..<28, 30..<39]))
        #expect(resolver.find("  ") == .orphan)
    }

    @Test("An anchor with wrong offsets is not trusted")
    func hostileOffsets() {
        let draft = DraftText("Some text.")
        let anchor = TextAnchor(
            exact: "text", prefix: "Some ", suffix: ".", start: 900, end: -4, line: 1, textHash: draft.hash)
        #expect(AnchorResolver(draft).resolve(anchor) == .exact(5..<9))
    }
}
