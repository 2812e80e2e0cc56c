import Platform
import TestSupport
import Testing

@Suite("Rules that inspect content, end to end", .ownThreads)
struct InsideFilesTests {
    /// A ZIP as written by a word processor.
    private func letter(_ text: String) -> [UInt8] {
        ZipWriter.archive([
            ("word/document.xml", Array("<w:d xmlns:w=\"http://w\"><w:p><w:t>\(text)</w:t></w:p></w:d>".utf8))
        ])
    }

    @Test("An invoice is moved by its text, under the number found in it; another letter stays")
    func invoices() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Invoices
              in: dropbox
              settle: 100ms
              where:
                contains: { text: Invoice, matches: "(?<number>INV-[0-9]+)" }
              do:
                - rename: { name: "{{ match.number }}.docx" }
            """)
        try await steward.start()
        try steward.home.write("Steward/dropbox/scan.docx", letter("Your invoice INV-42 of today"))
        try steward.home.write("Steward/dropbox/other.docx", letter("Dear Ms Smith"))
        try steward.wait()
        #expect(try Set(steward.files("dropbox").map(\.nameText)) == ["INV-42.docx", "other.docx"])
    }

    @Test("`explain` shows the values seen, and says why a damaged file has none")
    func explained() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule("- rule: Invoices\n  in: dropbox\n  where: { contains: Invoice }\n  do: trash\n")
        try steward.home.write("Steward/dropbox/whole.docx", letter("Invoice"))
        try steward.home.write("Steward/dropbox/broken.docx", Array(letter("Invoice").prefix(40)))
        #expect(
            try steward.run(["explain", steward.path("dropbox/whole.docx").text]).check().output.contains("`Invoice`"))
        #expect(
            try steward.run(["explain", steward.path("dropbox/broken.docx").text]).check().output.contains("damaged"))
    }
}
