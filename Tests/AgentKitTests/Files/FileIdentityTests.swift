import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Which file a name refers to, and for which rules it has arrived.
@Suite("A file, its names and its rules", .ownThreads)
struct FileIdentityTests {
    private func lines(_ steward: AgentFixture) throws -> [String] {
        try steward.notes().split(separator: "\n").filter { $0.hasPrefix("seen ") }.map(String.init).sorted()
    }

    private func agent(_ rule: String) async throws -> AgentFixture {
        let steward = try AgentFixture.inside()
        try steward.rule(rule)
        try await steward.start()
        return steward
    }

    private static let pdfs = """
        - rule: Papers
          in: dropbox
          where: { extension: pdf }
          settle: 50ms
          do: { append-block: { note: log, text: "seen {{ file.name }}" } }
        """

    @Test("A new file is news, whichever inode it reuses: twenty of deleted files, and fifty at rest")
    func reusedInodes() async throws {
        let steward = try await agent(Self.pdfs)
        var expected: [String] = []
        for number in 0..<20 {
            let old = try steward.drop(BytePath("dropbox/\(number).txt"), "old \(number)")
            try steward.wait()
            try Durable.remove(old)
            try steward.drop(BytePath("dropbox/\(number).pdf"), "new \(number)")
            expected.append("seen \(number).pdf")
        }
        try await steward.until("all are seen") { try self.lines(steward).count >= expected.count }
        var old: [BytePath] = []
        for number in 20..<70 { old.append(try steward.drop(BytePath("dropbox/\(number).txt"), "old \(number)")) }
        try steward.wait()
        try await steward.stop()
        for path in old { try Durable.remove(path) }
        for number in 20..<70 {
            try steward.drop(BytePath("dropbox/\(number).pdf"), "new \(number)")
            expected.append("seen \(number).pdf")
        }
        try await steward.start()
        try await steward.until("all are seen") { try self.lines(steward).count >= expected.count }
        try steward.wait()
        #expect(try lines(steward) == expected.sorted())
    }

    @Test("A file with a new name and new content arrives if nothing cared about its old name")
    func endingComesLast() async throws {
        let steward = try await agent(Self.pdfs)
        try steward.drop("dropbox/paper.download-1", "content")
        try steward.wait()
        #expect(rename(steward.path("dropbox/paper.download-1").text, steward.path("dropbox/paper.pdf").text) == 0)
        try await steward.until("it is seen") { try self.lines(steward) == ["seen paper.pdf"] }
        #expect(rename(steward.path("dropbox/paper.pdf").text, steward.path("dropbox/renamed.pdf").text) == 0)
        try steward.wait()
        #expect(try lines(steward) == ["seen paper.pdf"], "a new name is no arrival")
    }

    @Test("A file of the agent's with two names before it was first seen is recognised")
    func twoNames() async throws {
        let steward = try await agent(
            """
            - rule: Copies
              in: dropbox
              settle: 50ms
              do:
                - copy: { folder: copies }
                - append-block: { note: log, text: "seen {{ file.name }}" }
            - rule: Gone
              in: dropbox
              on: removed
              do: { append-block: { note: log, text: "seen no {{ file.name }}" } }
            """)
        for name in ["a", "z"] { try steward.drop(BytePath("dropbox/\(name).txt"), name) }
        try steward.wait()
        // It does not settle while a process has it open.
        let writer = try FileHolder(steward.path("dropbox/copies/a.txt"), .appending)
        for (old, new) in [("a", "b"), ("b", "c")] {
            let (old, new) = ("dropbox/copies/\(old).txt", "dropbox/copies/\(new).txt")
            #expect(rename(steward.path(BytePath(old)).text, steward.path(BytePath(new)).text) == 0)
        }
        // It is missed after the names that were released before.
        try Durable.remove(steward.path("dropbox/copies/z.txt"))
        try await steward.until("it is missed") { try self.lines(steward).contains("seen no z.txt") }
        try writer.release()
        try steward.wait()
        #expect(try lines(steward) == ["seen a.txt", "seen no z.txt", "seen z.txt"])
        #expect(try steward.files("dropbox/copies").map(\.nameText) == ["c.txt"])
    }

    private static let both = """
        - rule: All
          in: dropbox
          settle: 50ms
          do: { append-block: { note: log, text: "seen {{ file.name }}" } }
        - rule: Gone
          in: dropbox
          on: removed
          do: { append-block: { note: log, text: "seen no {{ file.name }}" } }
        """

    @Test("A tree that leaves its place and comes back under another name arrives")
    func treeComesBack() async throws {
        let steward = try await agent(Self.both)
        let names = (0..<20).map { "\($0).txt" }
        for name in names { try steward.drop(BytePath("dropbox/old/in/\(name)"), name) }
        try await steward.until("all are seen") { try self.lines(steward).count == names.count }
        let away = steward.home.path.appending("away")
        #expect(rename(steward.path("dropbox/old").text, away.text) == 0)
        try await steward.until("all are missed") { try self.lines(steward).count == 2 * names.count }
        #expect(rename(away.text, steward.path("dropbox/new").text) == 0)
        try await steward.until("all are seen again") { try self.lines(steward).count == 3 * names.count }
        try steward.wait()
        let expected = names.flatMap { ["seen \($0)", "seen \($0)", "seen no \($0)"] }
        #expect(try lines(steward) == expected.sorted())
    }

    /// How a file or a tree leaves its place and returns under another name.
    enum WayRound: CaseIterable {
        case file, tree, otherPlace, renamedOnReturn
    }

    @Test(
        "A file that leaves its place and returns under another name before it is missed arrives, by any route",
        arguments: WayRound.allCases)
    func backAtOnce(_ way: WayRound) async throws {
        let steward = try await agent(Self.both)
        let names = way == .tree ? (0..<20).map { "\($0).txt" } : ["a.txt"]
        for name in names { try steward.drop(BytePath("dropbox/old/\(name)"), name) }
        try await steward.until("all are seen") { try self.lines(steward).count == names.count }
        func move(_ old: BytePath, _ new: BytePath) { #expect(rename(old.text, new.text) == 0) }
        let old = steward.path("dropbox/old")
        let back: [String]
        switch way {
        case .tree:
            let away = steward.home.path.appending("away")
            move(old, away)
            move(away, steward.path("dropbox/new"))
            back = names
        case .file, .otherPlace, .renamedOnReturn:
            let away =
                way == .otherPlace ? steward.path("library/a.txt") : steward.home.path.appending("away.txt")
            move(old.appending("a.txt"), away)
            move(away, steward.path("dropbox/b.txt"))
            if way == .renamedOnReturn { move(steward.path("dropbox/b.txt"), old.appending("c.txt")) }
            back = [way == .renamedOnReturn ? "c.txt" : "b.txt"]
        }
        let expected = (names + back).map { "seen \($0)" } + names.map { "seen no \($0)" }
        try await steward.until("all are missed, and seen again") {
            try self.lines(steward).count >= expected.count
        }
        try steward.wait()
        #expect(try lines(steward) == expected.sorted())
    }

    @Test("A file restored from the trash under another name at once arrives")
    func backFromTrash() async throws {
        let steward = try await agent(
            """
            - rule: All
              in: dropbox
              settle: 50ms
              do: [ { append-block: { note: log, text: "seen {{ file.name }}" } }, trash ]
            """)
        try steward.drop("dropbox/a.txt", "text")
        let trash = steward.home.path.appending(".local/share/Trash/files")
        try await steward.until("it is in the trash") { try steward.trash() == ["text"] }
        let name = try #require(try listDirectory(trash).first?.name)
        #expect(rename(trash.appending(name: name).text, steward.path("dropbox/b.txt").text) == 0)
        try await steward.until("it is seen again") { try self.lines(steward).count >= 2 }
        try steward.wait()
        #expect(try lines(steward) == ["seen a.txt", "seen b.txt"])
    }

    @Test("A file that takes another's name while that is renamed arrives, whichever is judged first")
    func nameTakenOver() async throws {
        let steward = try await agent(Self.both)
        for number in 0..<20 {
            try steward.drop(BytePath("dropbox/\(number)/a.txt"), "\(number)")
        }
        try await steward.until("all are seen") { try self.lines(steward).count == 20 }
        for number in 0..<20 {
            let (old, new) = ("dropbox/\(number)/a.txt", "dropbox/\(number)/b.txt")
            #expect(rename(steward.path(BytePath(old)).text, steward.path(BytePath(new)).text) == 0)
            try steward.moveIn(BytePath(old), Array("another \(number)".utf8))
        }
        try await steward.until("the others are seen") { try self.lines(steward).count >= 40 }
        try steward.wait()
        #expect(try lines(steward) == Array(repeating: "seen a.txt", count: 40))
    }

    @Test("A file in a renamed folder is recognised, however long somebody has it open there")
    func openInRenamedFolder() async throws {
        let steward = try await agent(Self.both)
        for name in ["old/a", "old/b", "z"] { try steward.drop(BytePath("dropbox/\(name).txt"), name) }
        try await steward.until("all are seen") { try self.lines(steward).count == 3 }
        // It does not settle while a process has it open.
        let writer = try FileHolder(steward.path("dropbox/old/a.txt"), .appending)
        #expect(rename(steward.path("dropbox/old").text, steward.path("dropbox/new").text) == 0)
        try await steward.until("it waits under its new name") {
            try steward.status().settling.contains {
                $0.path == "new/a.txt" && $0.waitingFor == "its writer to close it"
            }
        }
        // Files missed after the rename are reported.
        try Durable.remove(steward.path("dropbox/z.txt"))
        try await steward.until("it is missed") { try self.lines(steward).contains("seen no z.txt") }
        try writer.release()
        try steward.wait()
        #expect(try lines(steward) == ["seen a.txt", "seen b.txt", "seen no z.txt", "seen z.txt"])
    }

    @Test("Files in a folder renamed while they are judged are processed once each, whatever the timing")
    func renamedAsJudged() async throws {
        let steward = try await agent(
            """
            - rule: All
              in: dropbox
              settle: 50ms
              do: { append-block: { note: log, text: "seen {{ file.text }}" } }
            """)
        var expected: [String] = []
        for moment in 0..<24 {
            for number in 0..<8 {
                try steward.drop(BytePath("dropbox/old-\(moment)/\(number).txt"), "\(moment).\(number)")
                expected.append("seen \(moment).\(number)")
            }
            // No state shows the moment between two transactions, so the moments are spread over the time it takes.
            usleep(UInt32(40_000 + 2_500 * moment))
            let (old, new) = ("dropbox/old-\(moment)", "dropbox/new-\(moment)")
            #expect(rename(steward.path(BytePath(old)).text, steward.path(BytePath(new)).text) == 0)
        }
        try await steward.until("all are seen") { try self.lines(steward).count >= expected.count }
        try steward.wait()
        let seen = try lines(steward)
        let unlike = seen.difference(from: expected.sorted())
        let log = try steward.log()
        #expect(unlike.isEmpty, "\(unlike)\n\(log)")
    }

    @Test("A file arrives for a rule when it first meets the conditions, and only once")
    func firstMatch() async throws {
        let steward = try await agent(
            """
            - rule: Filled
              in: dropbox
              where: { size: "> 0" }
              settle: 50ms
              do: { append-block: { note: log, text: "seen {{ file.text }}, {{ event }}" } }
            """)
        try steward.drop("dropbox/a.txt", "")
        try steward.wait()
        for text in ["first", "second"] {
            try steward.drop("dropbox/a.txt", text)
            try steward.wait()
        }
        try steward.drop("dropbox/last.txt", "last")
        try await steward.until("all is seen") { try self.lines(steward).count >= 2 }
        #expect(try lines(steward) == ["seen first, arrived", "seen last, arrived"])
    }

    @Test("A file that a rule skipped when it was new does not arrive for it when saved again")
    func leftAlone() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("papers")
        try steward.folder("papers")
        try steward.drop("papers/old.txt", "old")
        let rule = { (place: String, name: String) in
            "- rule: \(name)\n  in: \(place)\n  settle: 50ms\n"
                + "  do: { append-block: { note: log, text: \"seen {{ file.text }}\" } }\n"
        }
        try steward.rule(rule("papers", "First"))
        try await steward.start()
        try steward.wait()
        try steward.drop("papers/old.txt", "old, saved again")
        try steward.drop("papers/new.txt", "new")
        try await steward.until("the new one is seen") { try self.lines(steward) == ["seen new"] }
        try steward.wait()
        try steward.rule(rule("papers", "Second"))
        try steward.run(["reload"]).check()
        try steward.drop("papers/old.txt", "old, saved once more")
        try steward.drop("papers/new.txt", "new, saved again")
        try steward.wait()
        #expect(try lines(steward) == ["seen new"])
    }
}
