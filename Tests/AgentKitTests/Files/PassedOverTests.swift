import Foundation
import Platform
import TestSupport
import Testing

@Suite("Ignored names", .ownThreads)
struct PassedOverTests {
    private static let rule = """
        - rule: Seen
          in: dropbox
          settle: 50ms
          do: { append-block: { note: log, text: "seen {{ file.name }}" } }
        """

    private func seen(_ steward: AgentFixture) throws -> Set<String> {
        Set(
            try steward.notes().split(separator: "\n").filter { $0.hasPrefix("seen ") }.map {
                String($0.dropFirst(5)).replacingOccurrences(of: "\\", with: "")
            })
    }

    @Test("Everyday names are seen, and leftovers of systems and downloads start no rule")
    func everydayNames() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.rule)
        try await steward.start()
        let ordinary = ["sedan.txt", "sedona.md", "sedge.pdf", "sedentary", ".env.sample"]
        for name in ["Icon\r", "Thumbs.db", "desktop.ini", "x.aria2", "x.!qB"] + ordinary {
            try steward.drop(BytePath("dropbox").appending(name: Array(name.utf8)), name)
        }
        try await steward.until("they are seen") { try self.seen(steward).isSuperset(of: ordinary) }
        try steward.wait()
        #expect(try seen(steward) == Set(ordinary))
    }

    @Test("`explain` and `status` report that a file is ignored, and because of which pattern")
    func said() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.rule)
        try steward.drop("dropbox/before~", "before")
        try await steward.start()
        try steward.drop("dropbox/invoice.tmp", "invoice")
        try steward.drop("dropbox/Thumbs.db", "litter")
        let place = { () throws -> Answer in
            try #require(try steward.json(["status"])["places"].items.first { $0["name"].text == "dropbox" })
        }
        try await steward.until("status names them") { try place()["passedOver"].keys == ["before~", "invoice.tmp"] }
        #expect(try place()["passedOver"]["invoice.tmp"].text == "*.tmp")
        #expect(
            try steward.run(["status"]).check().output.contains("skipped in dropbox: invoice.tmp (matches `*.tmp`"))
        let explained = try steward.run(["explain", steward.path("dropbox/invoice.tmp").text]).check().output
        #expect(explained.contains("it is ignored: its name, or that of a parent folder, matches `*.tmp`"))
        #expect(explained.contains("Seen: does not match"))
        #expect(!explained.contains("would"))
    }

    @Test("steward.yaml can extend and shorten the list")
    func configured() async throws {
        let steward = try AgentFixture.inside(configuration: "ignore: [\"*.bak\", \"!*.tmp\", \"!x~\"]")
        try steward.rule(Self.rule)
        try await steward.start()
        for name in ["invoice.tmp", "x~", "y~", "old.bak", ".steward-x"] {
            try steward.drop(BytePath("dropbox/\(name)"), name)
        }
        try await steward.until("they are seen") { try self.seen(steward).isSuperset(of: ["invoice.tmp", "x~"]) }
        try steward.wait()
        #expect(try seen(steward) == ["invoice.tmp", "x~"])
        #expect(try steward.home.read(".config/steward/steward.yaml").contains("sedXXXXXX"))
    }
}
