import Platform
import TestSupport
import Testing

@Suite("Language server in a project", .timeLimit(.minutes(30)))
struct LanguageProjectTests {
    @Test("A finding of a style in .vale.ini is taken like any other") func taken() async throws {
        let fixture = try CommandFixture()
        try fixture.write(".vale.ini", "StylesPath = styles\n[*]\nBasedOnStyles = House\n")
        try fixture.write(
            "styles/House/One.yml", "extends: substitution\nmessage: Use '%s' instead of '%s'.\nswap: {one: two}\n")
        let client = try await LanguageClient(fixture, "Say one word.\n")
        #expect(try await client.findings() == ["House.One: one"])
        let reply = try await client.does("Change to “two”", at: "one")
        #expect(reply["error"] == nil, "\(reply)")
        #expect(client.string == "Say two word.\n")
        #expect(try await client.findings().isEmpty)
    }
}
