import Platform
import TKCore
import TestSupport
import Testing

@Suite("Suggestions about changed parts of a draft", .timeLimit(.minutes(30)))
struct PartsTests {
    private static let draft = DraftText("We met.\n\nThe rain fell on the old town.\n\nIt was late.\n")

    @Test(
        "Only changed paragraphs are unread, neighbours as one part",
        arguments: [
            ("a\n\nb\n\nc\n", []), ("a\n\nB\n\nc\n", ["B\n"]), ("a\n\nb\n\nc", []), ("c\n\na\n", []),
            ("a\n\nX\n\nY\n\nc\n", ["X\n\nY\n"]), ("X\n\nb\n\nY", ["X\n", "Y"]), ("a\n\nb\nb2\n\nc\n", ["b\nb2\n"]),
            ("X\n\nY\n", nil), ("", nil),
        ] as [(String, [String]?)])
    func unread(_ text: String, _ parts: [String]?) {
        let settings = ContentHash(of: Array("1".utf8))
        let read = ReadParagraphs(of: DraftText("a\n\nb\n\nc\n"), settings: settings)
        let draft = DraftText(text)
        #expect(read.unread(in: draft, settings: settings)?.map { draft[$0] } == parts)
        #expect(read.unread(in: draft, settings: ContentHash(of: Array("2".utf8))) == nil)
    }

    @Test("Of a part only itself is read; its neighbours are context, and a remark on them is dropped")
    func parts() async throws {
        let server = try ScriptedServer(
            AdvisorFixture.answer(
                AdvisorFixture.list(AdvisorFixture.item("old town", "city"), AdvisorFixture.item("met", "spoke"))))
        var options = try BatchTests.options("editor")
        let part = Self.draft.range(ofLine: 3)
        options.parts = [part]
        let result = try await AdvisorFixture.engine(server).review(Self.draft, options)
        #expect(result.suggestions.map(\.originalText) == ["old town"] && result.dropped.notInText == 1)
        #expect(result.suggestions.first.map { part.contains($0.anchor.start) } == true)
        let body = try #require(server.requests.first?.body)
        #expect(body.contains(#"BEGIN before\nWe met."#) && body.contains(#"BEGIN draft\nThe rain fell"#))
        options.parts = []
        #expect(try await AdvisorFixture.engine(server).review(Self.draft, options).suggestions.isEmpty)
        #expect(server.requests.count == 1)
    }
}
