import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Places whose file system does not respond")
struct HangingPlaceTests {
    private static let rules = """
        - rule: Arrivals
          in: server
          on: [arrived]
          settle: 100ms
          do: [{ append-block: { heading: Server, anchor: server, text: "<arrived {{ file.name }}>" } }]
        - rule: Captures
          in: dropbox
          where: { name: "*.txt" }
          settle: 100ms
          do: [{ append-block: { heading: Captures, anchor: cap, text: "<{{ file.name }}>" } }]
        - rule: Far
          in: dropbox
          where: { name: "*.far" }
          settle: 100ms
          do: [{ copy: { place: server } }]
        """

    private func scene() async throws -> (AgentFixture, StoppingDisk) {
        let steward = try AgentFixture(configuration: "poll: 1s")
        try steward.addPlace("server")
        try steward.rule(Self.rules)
        return (steward, try await StoppingDisk.mounted(steward, at: "server"))
    }

    private func noted(_ steward: AgentFixture, _ line: String) throws -> Bool { try steward.notes().contains(line) }

    @Test(
        "Block neither captures nor status, are shown by status, doctor and log, and do not keep the agent from ending")
    func whileItRuns() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        try await steward.start()
        try steward.drop("server/before.bin", "before")
        try await steward.until("the place is served") { try noted(steward, "<arrived before.bin>") }
        try steward.wait()
        server.stopAnswering()
        for number in 0..<20 { try steward.drop(BytePath("dropbox/\(number).far"), "far \(number)") }
        try steward.drop("dropbox/a.txt", "a")
        try await steward.until("captures go on at once") { try noted(steward, "<a.txt>") }
        try await steward.until("it shows") {
            let hanging = try steward.status().hanging
            return hanging.contains { $0.hasPrefix("the rule Far in dropbox: a file system does not respond") }
                && hanging.contains { $0.hasPrefix("the place server:") }
        }
        #expect(try steward.log().contains("the place server: a file system does not respond"))
        let doctor = try steward.run(["doctor"])
        #expect(doctor.status == 2)
        #expect(doctor.output.contains("place server: no response at \(steward.path("server"))"))
        try steward.drop("dropbox/b.txt", "b")
        try await steward.until("captures still go on") { try noted(steward, "<b.txt>") }
        #expect(try await steward.stop() == 0)
        server.answer()
        try await steward.start()
        try await steward.until("what waited is done") { try steward.files("server").count == 21 }
        try steward.wait()
        for number in 0..<20 { #expect(try steward.read(BytePath("server/\(number).far")) == "far \(number)") }
        #expect(try steward.files("server").count == 21)
        #expect(try steward.status().hanging.isEmpty)
        try await steward.stop()
    }

    @Test("Do not keep an agent from starting, and continue when they respond")
    func whenItStarts() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        server.stopAnswering()
        try await steward.start()
        try steward.drop("dropbox/a.txt", "a")
        try await steward.until("captures are taken") { try noted(steward, "<a.txt>") }
        #expect(try steward.run(["status"]).status == 0)
        server.answer()
        try steward.drop("server/after.bin", "after")
        try await steward.until("the place is served") { try noted(steward, "<arrived after.bin>") }
        #expect(try await steward.stop() == 0)
    }

    @Test(
        "Do not block the start of an agent with a new rule for them, which processes them when they respond")
    func newRule() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        try await steward.start()
        try steward.drop("server/before.bin", "before")
        try await steward.until("the place is served") { try noted(steward, "<arrived before.bin>") }
        try steward.wait()
        try await steward.stop()
        server.stopAnswering()
        try steward.rule(
            "20-new.yaml",
            """
            - rule: New
              in: server
              existing: process
              on: [arrived]
              settle: 100ms
              do: [{ append-block: { heading: Server, anchor: new, text: "<new {{ file.name }}>" } }]
            """)
        try await steward.start()
        #expect(try steward.log().contains("the new rule \"New\" waits with what was there before"))
        try steward.drop("dropbox/a.txt", "a")
        try await steward.until("captures are taken") { try noted(steward, "<a.txt>") }
        server.answer()
        try await steward.until("the new rule has taken it") { try noted(steward, "<new before.bin>") }
        #expect(try await steward.stop() == 0)
        try await steward.start()
        try steward.wait()
        #expect(try steward.notes().occurrences(of: "<new before.bin>") == 1)
        try await steward.stop()
    }

    @Test("Do not cause a new rule to run again on their files when they respond")
    func newRuleOnce() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        try await steward.start()
        try steward.drop("server/one.bin", "one")
        try steward.drop("library/two.bin", "two")
        try await steward.until("the place is served") { try noted(steward, "<arrived one.bin>") }
        try steward.wait()
        try await steward.stop()
        server.stopAnswering()
        try steward.rule(
            "20-new.yaml",
            """
            - rule: New
              in: [server, library]
              existing: process
              settle: 100ms
              do: [{ move: { name: "x-{{ file.name }}" } }]
            """)
        try await steward.start()
        #expect(try steward.log().contains("the new rule \"New\" waits with what was there before"))
        server.answer()
        try await steward.until("the new rule has taken it") { try steward.exists("server/x-one.bin") }
        for _ in 0..<2 {
            try steward.run(["reload"]).check()
            try steward.wait()
            #expect(try steward.files("server").map(\.nameText) == ["x-one.bin"])
            #expect(try steward.files("library").map(\.nameText) == ["x-two.bin"])
        }
        try await steward.stop()
    }

    @Test("Do not block the start of an agent with a step begun there; it is done once when they respond")
    func stepBegun() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        try steward.rule(
            "20-deep.yaml",
            """
            - rule: Deep
              in: dropbox
              where: { name: "*.deep" }
              settle: 100ms
              do: [{ copy: { place: server, folder: deep } }]
            """)
        // A run in which the agent itself creates the folders it needs.
        try await steward.start()
        try await steward.stop()
        try await steward.start(endingAt: "folder made:1")
        try steward.drop("dropbox/a.deep", "deep")
        try await steward.endedThere()
        server.stopAnswering()
        try await steward.start()
        #expect(try steward.log().contains("the work begun with a.deep continues in the background"))
        try steward.drop("dropbox/a.txt", "a")
        try await steward.until("captures are taken") { try noted(steward, "<a.txt>") }
        server.answer()
        try await steward.until("what was begun is done") { try steward.exists("server/deep/a.deep") }
        try await steward.until("it is seen") { try noted(steward, "<arrived a.deep>") }
        try steward.wait()
        #expect(try steward.files("server").map(\.nameText) == ["a.deep"])
        #expect(try steward.read("server/deep/a.deep") == "deep")
        #expect(try steward.notes().occurrences(of: "<arrived a.deep>") == 1)
        #expect(try steward.past("dropbox/a.deep").map { $0["state"].text } == ["done"])
        #expect(try steward.status().hanging.isEmpty)
        #expect(try await steward.stop() == 0)
    }

    @Test("Do not block the start of an agent with an undo begun there; it is completed once")
    func undoBegun() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        try await steward.start()
        try steward.drop("dropbox/1.far", "far")
        try await steward.until("it is copied") { try steward.exists("server/1.far") }
        try steward.wait()
        let job = try #require(try steward.past("dropbox/1.far").first)["job"].text
        server.stopAnswering()
        let asking = try steward.spawn(["undo", job])
        try await steward.until("the undo is begun") {
            try steward.status().hanging.contains { $0.hasPrefix("the rule Far in dropbox: ") }
        }
        try await steward.kill9()
        asking.end()
        try await steward.start()
        #expect(try steward.log().contains("was interrupted and continues in the background"))
        try steward.drop("dropbox/a.txt", "a")
        try await steward.until("captures are taken") { try noted(steward, "<a.txt>") }
        server.answer()
        try await steward.until("it is taken back") { try !steward.exists("server/1.far") }
        try await steward.until("that is known") {
            try steward.past("dropbox/1.far").map { $0["state"].text } == ["undone"]
        }
        try steward.wait()
        #expect(try steward.read("dropbox/1.far") == "far")
        #expect(try steward.loggedLines().count { $0.kind == "undone" && $0.message.hasPrefix("copy: ") } == 1)
        #expect(try await steward.stop() == 0)
    }

    @Test(
        "Do not block the start of an agent that was writing a note there; the block is there once when they respond")
    func noteBegun() async throws {
        let steward = try AgentFixture(configuration: "poll: 1s")
        try steward.rule(
            Self.rules.replacing("in: server", with: "in: library").replacing("place: server", with: "place: library"))
        let server = try await StoppingDisk.mounted(steward, at: "notes")
        defer { server.answer() }
        try await steward.start(endingAt: "write begun:1")
        try steward.drop("dropbox/a.txt", "a")
        try await steward.endedThere()
        server.stopAnswering()
        try await steward.start()
        try steward.drop("dropbox/b.far", "b")
        try await steward.until("others are served") { try steward.exists("library/b.far") }
        server.answer()
        try await steward.until("the block is written") { try noted(steward, "<a.txt>") }
        try await steward.until("all that waited is done") { try steward.status().waiting.isEmpty }
        try steward.wait()
        #expect(try steward.notes().occurrences(of: "<a.txt>") == 1)
        #expect(try await steward.stop() == 0)
        // Its staged files are removed at the latest when it starts and everything responds.
        try await steward.start()
        try steward.wait()
        #expect(try steward.leftovers().isEmpty)
        #expect(try steward.notes().occurrences(of: "<a.txt>") == 1)
        #expect(try await steward.stop() == 0)
    }

    @Test("Do not block the start if a link leads to them, nor the work in another place")
    func behindLink() async throws {
        let steward = try AgentFixture(configuration: "poll: 1s")
        try steward.addPlace("server")
        try steward.rule(Self.rules)
        try steward.folder("mounted")
        let server = try await StoppingDisk.mounted(steward, at: "mounted")
        defer { server.answer() }
        let link = steward.path("server")
        guard rmdir(link.text) == 0, symlink(steward.path("mounted").text, link.text) == 0 else {
            throw Fault.system("link", link)
        }
        for _ in 0..<2 {
            server.stopAnswering()
            try await steward.start()
            let name = "\(randomHex(4)).txt"
            try steward.drop(BytePath("dropbox/\(name)"), name)
            try await steward.until("captures are taken") { try noted(steward, "<\(name)>") }
            #expect(try steward.run(["status"]).status == 0)
            server.answer()
            let news = "\(randomHex(4)).bin"
            try steward.drop(BytePath("mounted/\(news)"), news)
            try await steward.until("the place is served") { try noted(steward, "<arrived \(news)>") }
            #expect(try await steward.stop() == 0)
        }
    }

    @Test("Do not keep health from reporting another place that is away")
    func besideOneThatIsAway() async throws {
        let (steward, server) = try await scene()
        defer { server.answer() }
        try await steward.start()
        try steward.wait()
        server.stopAnswering()
        try await steward.until("it shows") { try !steward.status().hanging.isEmpty }
        let (place, aside) = (steward.path("library"), steward.path("aside"))
        guard rename(place.text, aside.text) == 0 else { throw Fault.system("rename", place) }
        try await steward.until("both are told") {
            let lines = try steward.run(["health"]).output.split(separator: "\n")
            return lines.contains { $0.hasPrefix("the place server: a file system does not respond") }
                && lines.contains { $0.hasPrefix("the place library is not there") }
        }
        let told = try steward.json(["health"], status: 2)["findings"].items
        #expect(told.filter { $0["message"].text.contains("place server") }.map { $0["subject"].text } == ["hanging"])
        try await steward.stop()
    }
}
