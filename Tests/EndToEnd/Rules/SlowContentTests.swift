import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// Files that keep the content workers busy.
@Suite("Files that take long to read")
struct SlowContentTests {
    @Test("Ten of them delay no other file and no other place; they are listed, and end with the agent")
    func ten() async throws {
        let steward = try AgentFixture()
        // A program that never ends, in place of the one that reads files.
        let started = try steward.home.write("started", "")
        let reader = try steward.home.write(
            "reader", "#!/bin/sh\necho $$ >> '\(started.text)'\nwhile :; do :; done\n")
        chmod(reader.text, 0o755)
        steward.variables["STEWARD_WORKER"] = reader.text
        try steward.rule(
            """
            - rule: Invoices
              in: drafts
              settle: 50ms
              where: { contains: Invoice }
              do: trash
            - rule: Plain
              in: drafts
              settle: 50ms
              where: { name: "plain*" }
              do: trash
            - rule: Narrow
              in: comics
              settle: 50ms
              where:
                all:
                  - contains: Invoice
                  - name: "other*"
              do: trash
            - rule: Everything
              in: comics
              settle: 50ms
              do: trash
            """)
        try steward.rule("20-captures.yaml", CommandDaemonTests.captures)
        try await steward.start()
        func letter(_ number: Int) -> [UInt8] {
            ZipWriter.archive([("word/document.xml", Array("<w:d xmlns:w=\"w\"><w:t>\(number)</w:t></w:d>".utf8))])
        }
        for number in 0..<10 { try steward.home.write(BytePath("Steward/drafts/slow\(number).docx"), letter(number)) }
        try await steward.until("they are read") { try steward.json(["status"])["unread"].number ?? 0 > 0 }
        #expect(try steward.run(["status"]).output.contains("a process reads it, for "))
        // One in the same place, one in another, and one decided by its name although a rule would look inside.
        try steward.drop("drafts/plain.md", "No letter.\n")
        try steward.drop("dropbox/a.md", "A capture.\n")
        try steward.home.write("Steward/comics/named.docx", letter(11))
        try await steward.until("the others are done") {
            try !steward.exists("drafts/plain.md") && !steward.exists("dropbox/a.md")
                && !steward.exists("comics/named.docx")
        }
        #expect(try steward.files("drafts").count == 10)
        #expect(try await steward.stop() == 0)
        let readers = try TemporaryFolder.text(started).split(separator: "\n").compactMap { pid_t($0) }
        #expect(!readers.isEmpty && readers.count < 10)
        for reader in readers { #expect(kill(reader, 0) != 0) }
        #expect(try !steward.log().contains("cannot judge"))
    }
}
