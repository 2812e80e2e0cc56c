import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Faults of the storage under the agent.
@Suite("Full disks and unwritable notes", .serialized)
struct HostileDiskTests {
    private static let rule = """
        - rule: Captures
          in: dropbox
          settle: 100ms
          do:
            - index-capture
            - append-block: { heading: Captures, anchor: cap, text: "<{{ capture.text }}>" }
            - trash
        """

    /// A small separate file system, unmounted when the test ends.
    private final class SmallDisk {
        enum Kind { case memory, ext4 }

        let path: BytePath

        init(_ path: BytePath, _ size: String, _ steward: AgentFixture, as kind: Kind = .memory) throws {
            self.path = path
            try Durable.makeDirectory(path)
            if getuid() != 0 { try Test.cancel("only root can mount a small file system") }
            let image = steward.home.path.appending("image").text
            let commands =
                switch kind {
                case .memory: [["mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path.text]]
                case .ext4:
                    [
                        ["truncate", "-s", size, image], ["mkfs.ext4", "-q", "-F", "-m", "0", image],
                        ["mount", "-o", "loop", image, path.text],
                    ]
                }
            for command in commands {
                let made = try steward.shell(command)
                if made.status != 0 { try Test.cancel("mounting is not permitted here: \(made.errors)") }
            }
        }

        var filler: BytePath { path.appending("filler.part") }

        /// Writes until the disk is full.
        func fill() throws {
            let file = try Descriptor(filler, O_WRONLY | O_CREAT, mode: 0o600)
            var offset: Int64 = 0
            for count in [65_536, 4_096, 512, 1] {
                while (try? file.write([UInt8](repeating: 1, count: count), at: offset)) != nil {
                    offset += Int64(count)
                }
            }
        }

        func unmount() { umount2(path.text, 2) }  // MNT_DETACH
    }

    private func agent() throws -> AgentFixture {
        let steward = try AgentFixture(configuration: "notes: { wait-editor: 1s, wait-open: 2s }")
        try steward.rule("10-captures.yaml", Self.rule)
        return steward
    }

    private func expectEach(_ count: Int, _ steward: AgentFixture) async throws {
        try await steward.until("all blocks are in the notes") {
            let notes = try steward.notes()
            return (1...count).allSatisfy { notes.contains("<capture \($0)>") }
        }
        try steward.wait()
        let notes = try steward.notes()
        for number in 1...count { #expect(notes.occurrences(of: "<capture \(number)>") == 1) }
        #expect(try steward.files("dropbox").isEmpty)
        #expect(try steward.status().parked.map(\.problem) == [])
    }

    @Test("A start on a full disk waits until there is room for the ledger, and continues automatically")
    func fullLedgerAtStart() async throws {
        let steward = try agent()
        let disk = try SmallDisk(steward.home.path.appending("state"), "4m", steward)
        defer { disk.unmount() }
        steward.variables["STEWARD_STATE"] = disk.path.text
        try await steward.start()
        try steward.drop("dropbox/1.md", "capture 1")
        try steward.wait()
        try await steward.stop()
        try disk.fill()
        try steward.drop("dropbox/2.md", "capture 2")
        let process = try await steward.launch()
        try await steward.until("it says what it waits for") { try steward.log().contains("cannot start yet") }
        #expect(process.isRunning)
        try Durable.remove(disk.filler)
        try await steward.until("it answers") {
            try steward.run(["status", "--json"]).output.contains("\"isRunning\" : true")
        }
        try await expectEach(2, steward)
        try disk.fill()
        try await steward.stop()
        try Durable.remove(disk.filler)
        try await steward.start()
        try await steward.stop()
        // Its log has been checkpointed: no space is left to free.
        try disk.fill()
        _ = try await steward.launch()
        let said = try steward.log().occurrences(of: "cannot start yet")
        try await steward.until("it waits again") { try steward.log().occurrences(of: "cannot start yet") > said }
        // It stops even while it waits.
        try await steward.stop()
    }

    @Test(
        "A burst does not fill an 8 MB state disk, and if others did, the agent starts on the space its log frees"
    )
    func smallState() async throws {
        let steward = try agent()
        let disk = try SmallDisk(steward.home.path.appending("state"), "8m", steward)
        defer { disk.unmount() }
        steward.variables["STEWARD_STATE"] = disk.path.text
        try await steward.start()
        for number in 1...300 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try await expectEach(300, steward)
        let log = disk.path.appending("ledger.sqlite-wal")
        // A group of commits may exceed the limit.
        #expect(try FileStatus.of(log)?.size ?? 0 < 3 << 20)
        try await steward.kill9()
        #expect(try FileStatus.of(log)?.size ?? 0 > 0)
        try disk.fill()
        try await steward.start()
        try Durable.remove(disk.filler)
        try steward.drop("dropbox/301.md", "capture 301")
        try await expectEach(301, steward)
        try await steward.stop()
    }

    @Test("A full disk under the vault makes captures wait; nothing of the note is lost or half written")
    func fullVault() async throws {
        let steward = try agent()
        let disk = try SmallDisk(steward.path("notes"), "256k", steward)
        defer { disk.unmount() }
        // The block must need a page that is missing, and part of it must fit into the last one.
        let head = "## Captures\n\n" + String(repeating: "x", count: 4070) + "\n"
        try await steward.start()
        let note = steward.today()
        try steward.drop(note, head)
        try await steward.until("the note is seen") { try steward.status().settling.isEmpty }
        try disk.fill()
        for number in 1...3 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try await steward.until("the captures wait") { try steward.status().waiting.count == 3 }
        for job in try steward.status().waiting {
            #expect(
                job.problem.contains("No space left on device") && job.problem.contains("free some space"),
                "\(job.problem)")
        }
        #expect(try steward.read(note) == head)
        try steward.run(["retry"]).check()
        try await steward.until("they wait again") { try steward.status().waiting.count == 3 }
        #expect(try steward.read(note) == head)
        try Durable.remove(disk.filler)
        try await expectEach(3, steward)
        #expect(try steward.read(note).hasPrefix(head))
        try await steward.stop()
    }

    @Test("A full disk under a file makes its tags wait, and they are set when there is room")
    func fullUnderTags() async throws {
        let steward = try AgentFixture()
        // More than an inode can hold besides its other data.
        let tag = String(repeating: "x", count: 400)
        try steward.rule("- { rule: Tag, in: dropbox, settle: 100ms, do: { tag: { add: [\(tag)] } } }")
        let disk = try SmallDisk(steward.path("dropbox"), "1m", steward, as: .ext4)
        defer { disk.unmount() }
        let file = try steward.drop("dropbox/a.txt", "content")
        func tags() throws -> [UInt8]? { try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(file)) }
        try disk.fill()
        try await steward.start()
        for _ in 1...2 {
            try await steward.until("the job waits") { try steward.status().waiting.count == 1 }
            let problem = try steward.status().waiting[0].problem
            #expect(problem.contains("No space left on device") && problem.contains("free some space"), "\(problem)")
            #expect(try tags() == nil)
            try steward.run(["retry"]).check()
        }
        try Durable.remove(disk.filler)
        try await steward.until("the file has its tag") { try tags() == Array(tag.utf8) }
        try steward.wait()
        #expect(try steward.status().parked.map(\.problem) == [])
        try await steward.stop()
    }

    @Test("On a full disk a comic can be removed from the vault, which makes room for others")
    func fullVaultOfComics() throws {
        let scene = try VaultScene(made: false)
        let disk = try SmallDisk(scene.path.parent, "4m", scene.steward)
        defer { disk.unmount() }
        try scene.vault("init").check()
        for name in ["A.cbz", "B.cbz"] { try scene.deposit(BytePath(name), first: name == "A.cbz" ? 1 : 5) }
        try scene.vault("quarantine", "take-in").check()
        try disk.fill()
        try scene.vault("remove", "A.cbz", "--yes").check()
        #expect(try scene.names() == ["B.cbz"])
        #expect(try scene.vault("verify").check().output.contains("no problems"))
    }

    @Test("A full disk under the ledger stops nothing permanently")
    func fullState() async throws {
        let steward = try agent()
        let disk = try SmallDisk(steward.home.path.appending(".local/state/steward"), "12m", steward)
        defer { disk.unmount() }
        try await steward.start()
        try disk.fill()
        for number in 1...30 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try await steward.until("the agent complains") {
            let log = try steward.log()
            return log.contains("disk is full") || log.contains("No space left")
        }
        try await steward.until("status names it") {
            try steward.status().warnings.contains { $0.contains("ledger") && $0.contains("free some space") }
        }
        let wait = try steward.run(["wait"])
        #expect(wait.status == 1 && wait.errors.contains("cannot commit to the ledger"), "\(wait.errors)")
        try Durable.remove(disk.filler)
        try await expectEach(30, steward)
        #expect(try steward.status().warnings == [])
        try await steward.stop()
    }

    @Test("A full disk under the ledger is reported exactly as long as it is full, whatever the watchdog does")
    func watched() async throws {
        let steward = try agent()
        let disk = try SmallDisk(steward.home.path.appending(".local/state/steward"), "12m", steward)
        defer { disk.unmount() }
        let receiver = try DatagramReceiver()
        steward.variables["NOTIFY_SOCKET"] = receiver.path.text
        steward.variables["WATCHDOG_USEC"] = "600000"
        func words() -> Int { receiver.texts.count { $0 == "WATCHDOG=1" } }
        try await steward.start()
        try steward.wait()
        try disk.fill()
        // An operation that is never retried.
        #expect(try steward.run(["resume"]).status != 0)
        for _ in 1...5 {
            let before = words()
            try await steward.until("the watchdog has gone its way twice") { words() > before + 1 }
            let health = try steward.run(["health"])
            #expect(health.status == 2 && health.output.contains("cannot commit to the ledger"), "\(health)")
            #expect(try steward.run(["metrics"]).output.contains("\nsteward_ledger_writable 0\n"))
        }
        try Durable.remove(disk.filler)
        try await steward.until("all is well again") { try steward.run(["health"]).output == "healthy\n" }
        try await steward.stop()
    }

    @Test("A read-only note parks the block, naming the file and the remedy, and retry continues")
    func readOnly() async throws {
        let steward = try agent()
        try await steward.start()
        let note = steward.today()
        try steward.drop(note, "Mine.\n")
        try steward.wait()
        chmod(steward.path(note).text, 0o444)
        try steward.drop("dropbox/1.md", "capture 1")
        try await steward.until("the job is parked") { try steward.status().parked.count == 1 }
        let problem = try steward.status().parked[0].problem
        #expect(
            problem.contains(steward.path(note).text) && problem.contains("chmod u+w")
                && problem.contains("steward retry"))
        #expect(try steward.read(note) == "Mine.\n")
        chmod(steward.path(note).text, 0o644)
        try steward.run(["retry"]).check()
        try await expectEach(1, steward)
        #expect(try steward.read(note).hasPrefix("Mine.\n"))
        try await steward.stop()
    }

    @Test("A note that is a folder parks the block until it is fixed")
    func folder() async throws {
        let steward = try agent()
        try await steward.start()
        let note = steward.today()
        try steward.folder(note)
        try steward.drop("dropbox/1.md", "capture 1")
        try await steward.until("the job is parked") { try steward.status().parked.count == 1 }
        #expect(try steward.status().parked[0].problem.contains(steward.path(note).text))
        rmdir(steward.path(note).text)
        try steward.run(["retry"]).check()
        try await expectEach(1, steward)
        try await steward.stop()
    }

    @Test("A note that is not UTF-8 is not touched; the block is parked, naming it, until it is fixed")
    func latin() async throws {
        let steward = try agent()
        try await steward.start()
        let note = steward.today()
        let bytes: [UInt8] = Array("caf".utf8) + [0xE9, 0xFF, 0x00, 0xFE, 0x0A]
        try steward.home.write(BytePath("Steward").appending(note), bytes)
        try steward.drop("dropbox/1.md", "capture 1")
        try await steward.until("the job is parked") { try steward.status().parked.count == 1 }
        let problem = try steward.status().parked[0].problem
        #expect(problem.contains(steward.path(note).text) && problem.contains("UTF-8"), "\(problem)")
        #expect(try Descriptor(steward.path(note)).readAll() == bytes)
        try steward.drop(note, "café\n")
        try steward.run(["retry"]).check()
        try await expectEach(1, steward)
        #expect(try steward.read(note).hasPrefix("café\n"))
        try await steward.stop()
    }
}
