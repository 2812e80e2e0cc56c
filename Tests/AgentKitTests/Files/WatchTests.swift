import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("All ways for a file to arrive", .ownThreads)
struct WatchTests {
    private static let rule = """
        - rule: Seen
          in: [dropbox, comics]
          on: [arrived, changed, renamed, removed]
          settle: 200ms
          do:
            - append-block: { heading: Seen, anchor: seen, text: "[{{ event }} {{ file.place }}/{{ file.path }} {{ file.size | default: gone }}]" }
        """

    private func agent(
        _ configuration: String = "", settle: String = "200ms", isInside: Bool = true
    ) throws -> AgentFixture {
        let steward = try isInside ? .inside(configuration: configuration) : AgentFixture(configuration: configuration)
        try steward.rule("10-seen.yaml", Self.rule.replacingOccurrences(of: "200ms", with: settle))
        return steward
    }

    private func seen(_ steward: AgentFixture) throws -> [String] {
        try steward.notes().split(separator: "\n").filter { $0.hasPrefix("[") || $0.hasPrefix("\\[") }.map {
            $0.trimmingCharacters(in: CharacterSet(charactersIn: "\\[]"))
        }.sorted()
    }

    private func expect(_ lines: [String], _ steward: AgentFixture) async throws {
        try await steward.until("all is seen: \(lines)") { Set(lines).isSubset(of: try self.seen(steward)) }
        try steward.wait()
        #expect(try seen(steward) == lines.sorted())
    }

    @Test("A polled place sees arrivals, changes and removals")
    func polled() async throws {
        let steward = try agent("poll: 1s")
        let file: BytePath = ".config/steward/steward.yaml"
        try steward.home.write(
            file,
            steward.home.read(file).replacingOccurrences(of: "kind: dropbox,", with: "kind: dropbox, watch: poll,"))
        try await steward.start()
        #expect(try steward.status().places.first { $0.name == "dropbox" }?.mode.contains("polled") == true)
        try steward.drop("dropbox/deep/deeper/a.txt", "1")
        try await expect(["arrived dropbox/deep/deeper/a.txt 1"], steward)
        try steward.drop("dropbox/deep/deeper/a.txt", "12")
        try await expect(["arrived dropbox/deep/deeper/a.txt 1", "changed dropbox/deep/deeper/a.txt 2"], steward)
        try Durable.remove(steward.path("dropbox/deep/deeper/a.txt"))
        try await steward.until("the removal is seen") { try self.seen(steward).count == 3 }
        #expect(try seen(steward).last?.hasPrefix("removed dropbox/deep/deeper/a.txt") == true)
        try await steward.stop()
    }

    @Test("Folders moved in, out and between places take their files along")
    func movedFolders() async throws {
        let steward = try agent()
        try await steward.start()
        try steward.home.write("outside/tree/a/one.txt", "1")
        try steward.home.write("outside/tree/two.txt", "22")
        #expect(rename(steward.home.path.appending("outside/tree").text, steward.path("dropbox/tree").text) == 0)
        let first = ["arrived dropbox/tree/a/one.txt 1", "arrived dropbox/tree/two.txt 2"]
        try await expect(first, steward)
        #expect(rename(steward.path("dropbox/tree").text, steward.path("comics/moved").text) == 0)
        try await steward.until("the move is seen") { try self.seen(steward).count >= 6 }
        try steward.wait()
        var now = try seen(steward)
        #expect(now.filter { $0.hasPrefix("arrived comics/moved/") }.count == 2, "\(now)")
        #expect(now.filter { $0.hasPrefix("removed dropbox/tree/") }.count == 2, "\(now)")
        #expect(now.count == 6, "\(now)")
        try steward.drop("comics/moved/a/three.txt", "333")
        try await steward.until("the folder is still watched") {
            try self.seen(steward).contains("arrived comics/moved/a/three.txt 3")
        }
        #expect(rename(steward.path("comics/moved").text, steward.home.path.appending("outside/back").text) == 0)
        try await steward.until("the files are missed") {
            try self.seen(steward).filter { $0.hasPrefix("removed comics/") }.count == 3
        }
        try steward.wait()
        now = try seen(steward)
        #expect(now.count == 10, "\(now)")
        try await steward.stop()
    }

    @Test("A tree created all at once is seen completely, each file once")
    func oneBreath() async throws {
        let steward = try agent()
        try await steward.start()
        try steward.shell([
            "sh", "-c",
            "for i in 1 2 3 4 5 6 7 8; do mkdir -p Steward/dropbox/$i/a/b/c/d && echo x > Steward/dropbox/$i/a/b/c/d/f.txt && echo y > Steward/dropbox/$i/g.txt; done",
        ]).check()
        let lines = (1...8).flatMap { ["arrived dropbox/\($0)/a/b/c/d/f.txt 2", "arrived dropbox/\($0)/g.txt 2"] }
        try await expect(lines, steward)
        try await steward.stop()
    }

    @Test("Hard links, and files that get a name only when linked, arrive")
    func links() async throws {
        let steward = try agent()
        try await steward.start()
        let source = try steward.home.write("outside.txt", "linked")
        #expect(link(source.text, steward.path("dropbox/hard.txt").text) == 0)
        // O_TMPFILE without O_DIRECTORY, which is part of it and differs between machines.
        var file: Descriptor? = try Descriptor(
            steward.path("dropbox"), O_WRONLY | 0o20_000_000 | O_DIRECTORY, mode: 0o644)
        try file?.write(Array("unnamed".utf8), at: 0)
        let unnamed = "/proc/self/fd/\(file?.raw ?? -1)"
        #expect(linkat(AT_FDCWD, unnamed, AT_FDCWD, steward.path("dropbox/unnamed.txt").text, AT_SYMLINK_FOLLOW) == 0)
        file = nil
        try await expect(["arrived dropbox/hard.txt 6", "arrived dropbox/unnamed.txt 7"], steward)
        try await steward.stop()
    }

    @Test("A file closed and reopened between its parts is processed once, complete")
    func pieces() async throws {
        let steward = try agent(settle: "8s")
        try await steward.start()
        // In a separate process: where tests delay each other, the pieces would be too far apart.
        try steward.home.run(
            [
                "sh", "-c", "for n in 1 2 3 4 5 6 7 8 9 10; do echo piece >>\"$0\"; sleep 0.15; done",
                steward.path("dropbox/scan.txt").text,
            ], environment: steward.environment
        ).check()
        try await expect(["arrived dropbox/scan.txt 60"], steward)
        try await steward.stop()
    }

    @Test("A file is not touched while somebody has it open for writing")
    func heldOpen() async throws {
        // The writer must not be the agent's own process.
        let steward = try agent(isInside: false)
        try await steward.start()
        var file: Descriptor? = try Descriptor(steward.path("dropbox/download.txt"), O_WRONLY | O_CREAT, mode: 0o644)
        for number in 1...5 {
            try file?.write(Array("piece\n".utf8), at: Int64(number - 1) * 6)
            // Another file that came after the piece has settled, so this one would have.
            try steward.drop(BytePath("dropbox/other\(number).txt"), "x")
            try await steward.until("the other is seen") { try self.seen(steward).count == number }
            try await steward.until("status names the writer") {
                try steward.status().settling.contains { $0.path == "download.txt" && $0.waitingFor.contains("writer") }
            }
        }
        #expect(try !seen(steward).contains { $0.contains("download") })
        file = nil
        try await expect(
            (1...5).map { "arrived dropbox/other\($0).txt 1" } + ["arrived dropbox/download.txt 30"], steward)
        try await steward.stop()
    }

    @Test("Temporary names of programs are not news, and final ones are")
    func workNames() async throws {
        let steward = try agent()
        try await steward.start()
        for name in [
            "a.part", "b.crdownload", ".c.swp", "d~", "4913", ".#e", ".goutputstream-ABC123", ".~lock.f#", "._g",
            ".DS_Store",
        ] {
            try steward.drop(BytePath("dropbox").appending(name), "work")
        }
        #expect(rename(steward.path("dropbox/a.part").text, steward.path("dropbox/a.txt").text) == 0)
        try steward.drop("dropbox/last.txt", "last")
        try await expect(["arrived dropbox/a.txt 4", "arrived dropbox/last.txt 4"], steward)
        try await steward.stop()
    }
}
