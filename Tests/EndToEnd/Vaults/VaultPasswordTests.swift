import ComicTestSupport
import ComicVault
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Where passwords come from, and where they never appear.
@Suite("Vault passwords")
struct VaultPasswordTests {
    @Test("On a terminal a new password is asked for twice, an old one until it is right, and typing is not shown")
    func terminal() async throws {
        let scene = try VaultScene(made: false)
        let first = try TerminalSession(scene.steward, ["vault", "init"])
        try await first.expect("New password for the vault main: ")
        try first.type(VaultScene.password)
        try await first.expect("Repeat: ")
        try first.type("something else")
        #expect(try await first.end() == 64)
        #expect(first.screen.contains("the two passwords differ"))
        #expect(try FileStatus.of(scene.path) == nil)

        let second = try TerminalSession(scene.steward, ["vault", "init"])
        try await second.expect("New password for the vault main: ")
        try second.type(VaultScene.password)
        try await second.expect("Repeat: ")
        try second.type(VaultScene.password)
        #expect(try await second.end() == 0)
        #expect(second.screen.contains("made the vault main"))

        let third = try TerminalSession(scene.steward, ["vault", "list"])
        try await third.expect("Password for the vault main: ")
        try third.type(VaultScene.wrong)
        try await third.expect("wrong password for this vault")
        try third.type(VaultScene.password)
        #expect(try await third.end() == 0)
        #expect(third.screen.contains("the vault main is empty"))
        for session in [first, second, third] {
            #expect(!session.screen.contains("Pferd"), "\(session.screen)")
        }
    }

    @Test("If nobody can be asked, that is reported at once")
    func nobodyThere() throws {
        let scene = try VaultScene()
        let result = try scene.steward.shell(["setsid", "--wait", AgentFixture.binary, "vault", "list"])
        #expect(result.status == 64)
        #expect(result.errors.contains("--password-fd or --key-file"))
    }

    @Test("A systemd credential unlocks the vault when the agent starts, as a password or a key file")
    func credential() async throws {
        let scene = try VaultScene()
        let folder = scene.steward.home.path.appending("credentials")
        try scene.steward.home.write("credentials/steward-vault-main", VaultScene.password + "\n")
        scene.steward.variables["CREDENTIALS_DIRECTORY"] = folder.text
        try await scene.steward.start()
        #expect(try scene.isUnlocked())
        #expect(try await scene.steward.stop() == 0)
        #expect(try scene.steward.log().contains("the vault main is locked: the agent stops"))

        try scene.steward.home.write("credentials/steward-vault-main", VaultScene.wrong)
        try await scene.steward.start()
        #expect(try !scene.isUnlocked())
        #expect(try scene.steward.log().contains("was not unlocked with its credential"))
        #expect(try await scene.steward.stop() == 0)
    }

    @Test("An unused vault is locked after a while, which is reported")
    func idle() async throws {
        let scene = try VaultScene(made: false)
        let file: BytePath = ".config/steward/steward.yaml"
        let text = try scene.steward.home.read(file)
        try scene.steward.home.write(file, text.replacingOccurrences(of: "lock-after: 15m", with: "lock-after: 1s"))
        try scene.vault("init").check()
        try await scene.steward.start()
        try scene.vault("unlock").check()
        try await scene.steward.until("it is locked") {
            try scene.steward.log().contains("the vault main is locked: nobody used it")
        }
        #expect(try !scene.isUnlocked())
    }

    @Test("The password is in no argument, variable, file or log, and no other process may inspect the keys")
    func nowhere() async throws {
        let scene = try VaultScene()
        try await scene.steward.start()
        try scene.vault("unlock").check()
        let session = try TerminalSession(scene.steward, ["vault", "passwd"])
        try await session.expect("Old password for the vault main: ")
        try session.type(VaultScene.password)
        try await session.expect("New password: ")
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int32(name) != nil {
            // Processes that have ended, or belong to others, are skipped.
            for file in ["cmdline", "environ"] {
                guard let bytes = try? Descriptor(BytePath("/proc/\(name)/\(file)")).readAll() else { continue }
                #expect(!String(decoding: bytes, as: UTF8.self).contains(VaultScene.password), "/proc/\(name)/\(file)")
            }
        }
        try session.type("the next one")
        try await session.expect("Repeat: ")
        try session.type("the next one")
        #expect(try await session.end() == 0)
        #expect(session.screen.contains("changed the slot"))
        // Files of a non-dumpable process belong to root in /proc: no core, and no access for others (prctl(2),
        // PR_SET_DUMPABLE).
        let agent = try #require(scene.steward.processID)
        #expect(try FileStatus.of(BytePath("/proc/\(agent)/mem"))?.owner == 0)
        #expect(try await scene.steward.stop() == 0)
        let written = try scene.everythingWritten()
        for secret in [VaultScene.password, "the next one"] { #expect(!written.contains(secret)) }
    }

    @Test("A weak password is accepted with a warning, wherever a new one is set")
    func shortPasswords() throws {
        let scene = try VaultScene(made: false)
        let first = try scene.vault("init", password: "x").check()
        #expect(first.errors.contains("that password has 1 character"), "\(first.errors)")
        let second = try scene.vault("slots", "add", password: "x", new: "zweiundä").check()
        #expect(second.errors.isEmpty, "\(second.errors)")
        let third = try scene.vault("passwd", password: "x", new: "drei").check()
        #expect(third.errors.contains("that password has 4 characters"), "\(third.errors)")
    }

    @Test("The agent cannot be inspected before it has a key, and names of comics do not outlast the lock")
    func memory() async throws {
        let scene = try VaultScene()
        try await scene.steward.start()
        let agent = try #require(scene.steward.processID)
        #expect(try FileStatus.of(BytePath("/proc/\(agent)/mem"))?.owner == 0)
        if geteuid() != 0 { try Test.cancel("only root may look into the agent's memory") }
        let name = "Archaeopteryx lithographica, the whole story"
        try scene.deposit(BytePath("\(name).cbz"))
        try scene.vault("unlock").check()
        try await scene.steward.until("it is taken in") { try scene.names().count == 1 }
        #expect(try holds(name, agent, scene), "nothing is found in memory at all")
        try scene.vault("lock").check()
        try await scene.steward.until("the name is gone from memory") { try !self.holds(name, agent, scene) }
    }

    @Test("A locked agent's memory contains no title and no page name of a deposit, not even during it")
    func memoryWhileDepositing() async throws {
        if geteuid() != 0 { try Test.cancel("only root may look into the agent's memory") }
        let scene = try VaultScene()
        try scene.steward.rule(AgentFixture.sealing)
        try await scene.steward.start()
        let agent = try #require(scene.steward.processID)
        let information = "<ComicInfo><Title>Coelacanthus granulatus</Title></ComicInfo>"
        // An archive whose own bytes do not contain the words: its names are UTF-16, the rest is compressed.
        let archive = try packed(
            [
                Packed(name: "Coelacanthus page of many words 1.png", bytes: picture(1)),
                Packed(name: "ComicInfo.xml", bytes: Array(information.utf8)),
            ], .sevenZip)
        // While another process holds the vault's public key, a deposit waits, and the job stays where it is.
        let key = try Descriptor(scene.path.appending("vault.pub"), O_RDWR)
        #expect(try FileLock.acquire(.exclusive, on: key))
        try scene.steward.moveIn("comics/deposit 1.cb7", archive)
        try await scene.steward.until("the job was tried, and waits") {
            for text in ["Coelacanthus granulatus", "Coelacanthus page of many"] {
                #expect(try !self.holds(text, agent, scene), "\(text)")
            }
            return try !scene.steward.status().waiting.isEmpty
        }
        // The same search finds what the agent always knows about its job.
        #expect(try holds("deposit 1.cb7", agent, scene))
        try FileLock.release(key)
        try scene.steward.run(["retry"]).check()
        try await scene.steward.until("it is deposited") {
            for text in ["Coelacanthus granulatus", "Coelacanthus page of many"] {
                #expect(try !self.holds(text, agent, scene), "\(text)")
            }
            return try scene.steward.files("comics").isEmpty
        }
        try scene.vault("unlock").check()
        try await scene.steward.until("it is taken in") { try scene.names() == ["deposit 1.cb7"] }
        try await scene.steward.stop()
    }

    @Test("Comics deposited while locked or sealed while unlocked are not in the agent's memory afterwards")
    func memoryOfDeposits() async throws {
        if geteuid() != 0 { try Test.cancel("only root may look into the agent's memory") }
        let scene = try VaultScene()
        try scene.steward.rule(AgentFixture.sealing)
        try await scene.steward.start()
        let agent = try #require(scene.steward.processID)
        for isLocked in [true, false] {
            let mark = isLocked ? "Coelacanthus" : "Pterodactylus"
            if !isLocked { try scene.vault("unlock").check() }
            let information = "<ComicInfo><Title>\(mark) granulatus, part seven</Title></ComicInfo>"
            let archive = try packed(
                [
                    Packed(name: "\(mark) page of many words 1.png", bytes: picture(isLocked ? 1 : 2)),
                    Packed(name: "ComicInfo.xml", bytes: Array(information.utf8)),
                ], .storedZip)
            // Read from the kernel after many others, so that later reads do not overwrite it.
            kill(agent, SIGSTOP)
            for number in 0..<20 { try scene.steward.drop(BytePath("notes/\(mark.count) padding \(number)"), "") }
            try scene.steward.moveIn(BytePath("comics/\(mark) in its own file.cbz"), archive)
            kill(agent, SIGCONT)
            try scene.steward.wait()
            #expect(try scene.steward.files("comics").isEmpty)
            if !isLocked { try scene.vault("lock").check() }
            let hash = ContentHash(of: archive).description
            for text in ["\(mark) granulatus", "\(mark) page of many", "\(mark) in its own", hash] {
                do {
                    try await scene.steward.until("“\(text)” is gone from memory") {
                        try !self.holds(text, agent, scene)
                    }
                } catch {
                    throw TestFailure("\(error):\n\(try found(text, agent, scene))")
                }
            }
        }
        try await scene.steward.stop()
    }

    /// Whether the process has these bytes anywhere in writable memory.
    private func holds(_ text: String, _ process: Int32, _ scene: VaultScene) throws -> Bool {
        try !found(text, process, scene).isEmpty
    }

    /// The writable mappings that contain these bytes, each with its surroundings; empty for none.
    private func found(_ text: String, _ process: Int32, _ scene: VaultScene) throws -> String {
        let script = """
            import sys
            wanted = sys.argv[2].encode()
            with open(f"/proc/{sys.argv[1]}/maps") as maps, open(f"/proc/{sys.argv[1]}/mem", "rb", 0) as memory:
                for line in maps:
                    place, rights = line.split()[:2]
                    if not rights.startswith("rw"):
                        continue
                    start, end = (int(part, 16) for part in place.split("-"))
                    try:
                        memory.seek(start)
                        bytes = memory.read(end - start)
                    except (OSError, ValueError):
                        continue
                    at = bytes.find(wanted)
                    if at >= 0:
                        print(line.rstrip(), hex(start + at), bytes[max(0, at - 200):at + 200])
            """
        return try scene.steward.shell(["python3", "-c", script, String(process), text]).check().output
    }
}
