import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// More files at once than the agent keeps in memory. The `growth-seen` benchmark in `Benchmarks` measures that memory:
/// the size of a process depends on the machine.
@Suite("Large numbers of files", .ownThreads)
struct BurstTests {
    private static let rules = """
        - rule: Slow
          in: dropbox
          settle: 1h
          where: { extension: slow }
          do: { append-block: { note: log, text: "slow {{ file.name }}" } }
        - rule: Quick
          in: dropbox
          settle: 50ms
          where: { extension: txt }
          do: { append-block: { note: log, text: "quick {{ file.name }}" } }
        """

    @Test("A file is not delayed by thousands of earlier ones that have yet to settle")
    func overtaking() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.rules)
        for number in 0..<3_000 { try steward.drop(BytePath("dropbox/sub/\(number).slow"), "x") }
        try await steward.start()
        for name in ["one.txt", "sub/two.txt"] {
            try steward.drop(BytePath("dropbox").appending(name), "news")
            try await steward.until("\(name) is taken") {
                try steward.notes().contains("quick \(BytePath(name).nameText)")
            }
        }
    }

    @Test("Arrivals come before the jobs of thousands of existing files, which are never all in memory")
    func beforeBacklog() async throws {
        // The program, which shares its threads with no other test: thousands of files take a while.
        let steward = try AgentFixture()
        let count = 3_000
        try steward.rule(
            """
            - rule: All
              in: dropbox
              settle: 50ms
              existing: process
              do: { tag: { add: [seen] } }
            """)
        try await steward.start()
        try steward.run(["pause"]).check()
        try await steward.stop()
        for number in 0..<count { try steward.drop(BytePath("dropbox/sub/\(number).txt"), "\(number)") }
        try await steward.start()
        func queued() throws -> Double { try steward.json(["status"])["jobs"]["ready"].number ?? 0 }
        try await steward.until("all are planned") {
            let status = try steward.status()
            // Settling files are in memory.
            #expect(status.settling.count < count - 500)
            return try queued() >= Double(count)
        }
        try steward.drop("dropbox/fresh/new.txt", "new")
        try await steward.until("it is planned") { try queued() >= Double(count + 1) }
        try steward.run(["resume"]).check()
        try steward.wait()
        let done = try steward.loggedLines().filter { $0.kind == "step" }.compactMap(\.path)
        #expect(done.count == count + 1)
        let place = try #require(done.firstIndex { $0 == "fresh/new.txt" })
        // Only jobs already running when it arrives come before it.
        #expect(place < 400)
    }

    @Test("A renamed folder of thousands does not count as removed, and nothing in it arrives again")
    func renamedFolder() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Seen
              in: dropbox
              settle: 50ms
              do: { tag: { add: [seen] } }
            - rule: Gone
              in: dropbox
              on: removed
              do: { append-block: { note: log, text: "removed {{ file.name }}" } }
            """)
        let count = 2_300
        for number in 0..<count { try steward.drop(BytePath("dropbox/old/\(number).txt"), "x\(number)") }
        try await steward.start()
        try steward.wait()
        let dropbox = steward.home.path.appending("Steward/dropbox")
        try steward.shell(["mv", dropbox.appending("old").description, dropbox.appending("new").description]).check()
        try steward.wait()
        #expect(try steward.loggedLines().count { $0.kind == "step" } == count)
    }

    @Test("With endless new and renamed folders, those that leave do not delay those that come")
    func endlessRenames() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.rules)
        try await steward.start()
        let loop = BytePath("Steward/dropbox/loop")
        let home = steward.home
        let renaming = Task.detached {
            var number = 0
            while !Task.isCancelled {
                let (hidden, shown) = (loop.appending(".\(number)"), loop.appending("\(number)"))
                try home.write(hidden.appending("file.none"), "x")
                _ = try Durable.renameNew(home.path.appending(hidden), to: home.path.appending(shown))
                number += 1
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        defer { renaming.cancel() }
        for round in 0..<3 {
            try steward.moveIn(BytePath("dropbox/in-\(round)/\(round).txt"), Array("news".utf8))
            try await steward.until("the file of round \(round) is taken") {
                try steward.notes().contains("quick \(round).txt")
            }
            try steward.shell(["rm", "-r", steward.path(BytePath("dropbox/in-\(round)")).text]).check()
            try steward.shell(["rm", "-rf", steward.path(BytePath("dropbox/loop/\(round)")).text]).check()
        }
    }

    @Test("Results of a new rule for a place's first files are not mistaken for others of them")
    func ownProducts() async throws {
        // The program, which shares its threads with no other test: thousands of files take a while.
        let steward = try AgentFixture()
        try steward.rule("- { rule: None, in: dropbox, where: { extension: none }, do: trash }")
        let count = 250
        for number in 0..<count { try steward.drop(BytePath("dropbox/a\(number).txt"), "x\(number)") }
        try await steward.start()
        try steward.wait()
        try steward.rule(
            """
            - rule: Mark
              in: dropbox
              existing: process
              where: { extension: txt }
              do:
                - append-block: { note: log, text: "marked {{ file.name }}" }
                - rename: { name: "z-{{ file.name }}" }
            """)
        // All of them may take minutes where the machine is busy.
        try await steward.until("the rule is in force") { try steward.notes().contains("marked ") }
        try steward.wait()
        #expect(try steward.notes().components(separatedBy: "marked ").count - 1 == count)
    }
}
