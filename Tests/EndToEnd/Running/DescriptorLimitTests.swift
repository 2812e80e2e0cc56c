import Foundation
import Platform
import TestSupport
import Testing

/// What happens to jobs while the agent cannot open any more files.
@Suite("Too few file descriptors")
struct DescriptorLimitTests {
    @Test("Jobs wait wherever they run out, even within SQLite, continue automatically, and none is parked")
    func none() async throws {
        let steward = try AgentFixture(configuration: "log: { level: debug }")
        try steward.giveUpVaults()
        try steward.rule(
            """
            - rule: Keep captures
              in: dropbox
              where: { extension: md }
              settle: 100ms
              do:
                - index-capture
                - trash
            """)
        try await steward.start()
        let agent = try #require(steward.processID)
        func limit(_ count: Int) throws {
            try steward.shell(["prlimit", "--pid", "\(agent)", "--nofile=\(count):"]).check()
        }
        // Each time a different call is the first to get no descriptor: the file, the ledger's readers, the capture
        // store.
        let rooms = 0..<10
        for room in rooms {
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(agent)/fd").count
            let before = try steward.log().count
            try limit(open + room)
            let name = BytePath("dropbox/capture \(room).md")
            try steward.moveIn(name, Array("Capture \(room)\n".utf8))
            try await steward.until("the agent noticed, or had room enough") {
                try steward.log().count > before || !steward.files("dropbox").contains(steward.path(name))
            }
            try limit(1024)
        }
        try await steward.until("all went through by themselves") { try steward.files("dropbox").isEmpty }
        let list = try steward.run(["dots", "search", "Capture", "--limit", "50"]).check().output
        for room in rooms { #expect(list.contains("Capture \(room)"), "\(list)") }
        #expect(try steward.status().parked.isEmpty)
        try await steward.stop()
    }
}
