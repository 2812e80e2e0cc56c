import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Law 9: idle means idle.
@Suite("An idle agent, end to end")
struct IdleTests {
    private static let rules = """
        - rule: Captures
          in: dropbox
          settle: 50ms
          do: [index-capture, append-block: { heading: Captures, text: "got {{ capture.text }}" }, trash]
        - rule: Tell
          in: notes
          where: { name: told.md }
          settle: 50ms
          do: [publish: { to: nowhere }]
        - rule: Review
          in: drafts
          on: [arrived, changed]
          settle: 50ms
          do: [review]
        - rule: Sort comics
          in: comics
          settle: 50ms
          do: [import-comic: { place: library }]
        """

    @Test("Nothing wakes up while nothing is pending: after the start, after work, after a wait")
    func rests() async throws {
        let steward = try AgentFixture(configuration: AttackedAction.configuration)
        try steward.rule(Self.rules)
        try await steward.start()
        try steward.wait()
        try await comesToRest(steward, "the start")

        for number in 1...5 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try steward.drop("drafts/essay.md", "We met in order to talk.\n")
        try steward.drop("comics/none.cbz", "this is no archive")
        try steward.wait()
        #expect(try steward.count("got capture") == 5)
        try await comesToRest(steward, "work")

        let (library, aside) = (steward.path("library"), steward.path("aside"))
        guard rename(library.text, aside.text) == 0 else { throw Fault.system("rename", library) }
        try steward.moveIn("comics/Heron 1.cbz", try packed([Packed(name: "1.png", bytes: picture(1))]))
        try await steward.until("it waits for the place") { try steward.status().waiting.count == 1 }
        guard rename(aside.text, library.text) == 0 else { throw Fault.system("rename", aside) }
        try await steward.until("it is there") { try steward.exists("library/Heron/Heron 1.cbz") }
        try steward.wait()
        try await comesToRest(steward, "a job that waited")

        try steward.drop("notes/told.md", "to be told\n")
        try await steward.until("an event waits for its next try") {
            try steward.json(["outbox"]).items.first?["problem"].text.isEmpty == false
        }
        try await comesToRest(steward, "an event that waits")
        try await steward.stop()
    }

    /// Libdispatch checks its threads once a second for as long as it has any; activity of the agent comes on top.
    private static let ofLibdispatch = 3

    /// Waits until no other thread has woken up between two looks, two seconds apart.
    private func comesToRest(_ steward: AgentFixture, _ after: String) async throws {
        let process = try #require(steward.processID)
        var timeout = Timeout(seconds: 60)
        var last = try Self.wakeUps(of: process)
        while true {
            for _ in 0..<20 {
                guard try await timeout.pause(milliseconds: 100) else {
                    throw TestFailure("threads of the agent go on waking up after \(after): \(last)")
                }
            }
            let now = try Self.wakeUps(of: process)
            let woken = now.map { $0.value - (last[$0.key] ?? 0) }.reduce(0, +)
            if woken <= Self.ofLibdispatch { return }
            last = now
        }
    }

    /// The kernel's wake-up counts, per named thread.
    private static func wakeUps(of process: Int32) throws -> [String: Int] {
        var found: [String: Int] = [:]
        for entry in try listDirectory(BytePath("/proc/\(process)/task")) {
            let thread = BytePath("/proc/\(process)/task").appending(name: entry.name)
            do {
                let lines = try TemporaryFolder.text(thread.appending("status")).split(separator: "\n")
                let name = lines.first { $0.hasPrefix("Name:") } ?? ""
                let count = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }?.split(separator: "\t").last
                let number: Int = try #require(count.flatMap { Int($0) })
                found["\(thread.nameText) \(name)"] = number
            } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ESRCH {
                // It has ended between the look at the folder and this one.
                continue
            }
        }
        return found
    }
}
