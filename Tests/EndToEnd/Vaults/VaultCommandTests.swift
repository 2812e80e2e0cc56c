import ComicTestSupport
import ComicVault
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// `steward vault` from a user's point of view.
@Suite("Vault commands")
struct VaultCommandTests {
    @Test("A day with a vault: created, unlocked, filled, read, changed, locked by a signal")
    func day() async throws {
        let scene = try VaultScene()
        let steward = scene.steward
        #expect(try FileStatus.of(scene.path).map { $0.mode & 0o777 } == 0o700)
        try await steward.start()
        #expect(try !scene.isUnlocked())
        let saga = try scene.deposit("Saga 1.cbz", first: 1)
        try scene.deposit("Maus.cbz", first: 10)
        let waiting = try scene.answer("status").items[0]
        #expect(waiting["deposits"].number == 2)
        let opened = try scene.vault("unlock").check()
        #expect(opened.output.contains("the vault main is unlocked"))
        #expect(try scene.vault("unlock", password: VaultScene.wrong).check().output.contains("already"))
        try await steward.until("the deposits are taken in") { try scene.names().count == 2 }
        #expect(try scene.names() == ["Maus.cbz", "Saga 1.cbz"])
        #expect(try steward.run(["status"]).check().output.contains("vault main: unlocked"))

        // Read.
        let id = try scene.answer("list")["comics"].items[1]["id"].text
        let shown = try scene.vault("show", "Saga 1.cbz").check().output
        #expect(shown.contains(id) && shown.contains("pages      2"))
        try scene.vault("extract", String(id.prefix(6)), "-o", "out.cbz").check()
        let copy = steward.home.path.appending("out.cbz")
        #expect(try Descriptor(copy).readAll() == saga.archive)
        #expect(try FileStatus.of(copy).map { $0.mode & 0o777 } == 0o600)
        #expect(try scene.vault("extract", id, "-o", "out.cbz").status == 1)
        try scene.vault("extract", id, "-o", "out.cbz", "--force").check()
        try scene.vault("page", "Saga 1.cbz", "2", "-o", "p.png").check()
        #expect(try Descriptor(steward.home.path.appending("p.png")).readAll() == picture(2))
        #expect(try scene.vault("page", "Saga 1.cbz", "3", "-o", "q.png").errors.contains("2 pages"))
        #expect(try FileStatus.of(steward.home.path.appending("q.png")) == nil)

        // Change.
        try scene.vault("rename", id, "Saga one.cbz").check()
        #expect(try scene.vault("rename", id, "Maus.cbz").status == 1)
        let dry = try scene.vault("remove", "Maus.cbz", "--dry-run").check().output
        #expect(dry.contains("would remove Maus.cbz"))
        #expect(try scene.vault("remove", "Maus.cbz").status == 64)
        #expect(try scene.names() == ["Maus.cbz", "Saga one.cbz"])
        try scene.vault("remove", "Maus.cbz", "--yes").check()
        #expect(try scene.vault("remove", "Maus.cbz", "--yes").status == 1)
        #expect(try scene.names() == ["Saga one.cbz"])
        let verified = try scene.answer("verify")
        #expect(verified["isWell"].isTrue || verified["findings"].items.isEmpty)

        // Locked by a signal: now the command itself needs the password.
        kill(try #require(steward.processID), SIGUSR1)
        try await steward.until("the vault is locked") { try !scene.isUnlocked() }
        #expect(try scene.names() == ["Saga one.cbz"])
        #expect(try scene.vault("list", password: VaultScene.wrong).status == 77)
        #expect(try steward.log().contains("the vault main is locked: SIGUSR1"))
        #expect(try await steward.stop() == 0)
        let log = try steward.log()
        for word in ["Saga", "Maus", VaultScene.password] { #expect(!log.contains(word), "\(word) in\n\(log)") }
    }

    @Test("Without an agent every command opens the vault itself, exclusively")
    func alone() throws {
        let scene = try VaultScene()
        let drop = try scene.deposit("A.cbz").drop
        #expect(try scene.names().isEmpty)
        let waiting = try scene.answer("quarantine")["deposits"].items
        #expect(waiting.map { $0["id"].text } == [drop.description])
        try scene.vault("quarantine", "take-in").check()
        #expect(try scene.names() == ["A.cbz"])
        #expect(try scene.vault("unlock").errors.contains("no agent is running"))
        try scene.vault("lock").check()
        #expect(try scene.vault("init").status == 1)
    }

    @Test("A wrong password differs from a usage error, changes nothing, and the right one works afterwards")
    func wrongPassword() async throws {
        let scene = try VaultScene()
        for command in ["list", "verify", "passwd", "export-key"] {
            let extra = command == "export-key" ? ["-o", "k"] : []
            let result = try scene.runVault([command] + extra, password: VaultScene.wrong, new: "another")
            #expect(result.status == 77, "\(command): \(result.errors)")
            #expect(result.errors.contains("wrong password or key for this vault"), "\(command)")
            #expect(result.output.isEmpty)
        }
        try await scene.steward.start()
        #expect(try scene.vault("unlock", password: VaultScene.wrong).status == 77)
        #expect(try !scene.isUnlocked())
        #expect(try scene.vault("unlock", password: "").status == 64)
        try scene.vault("unlock").check()
        #expect(try scene.steward.run(["vault", "list"]).check().output.contains("the vault main is empty"))
        let nowhere = try scene.steward.run(["vault", "list", "--vault", "attic"])
        #expect(nowhere.status == 64 && nowhere.errors.contains("no vault is called “attic”; there are main"))
        let closed = try scene.steward.run(["vault", "passwd", "--password-fd", "9"])
        #expect(closed.status == 64 && closed.errors.contains("the descriptor 9 is not open"))
    }

    @Test("Passwords can be changed, added and removed as slots; an exported key creates one when all are lost")
    func keys() throws {
        let scene = try VaultScene()
        try scene.deposit("A.cbz")
        try scene.vault("quarantine", "take-in").check()
        let changed = try scene.vault("passwd", new: "second").check().output
        #expect(changed.contains("Earlier copies of the vault still open with the old one."))
        #expect(try scene.vault("list").status == 77)
        #expect(try scene.vault("list", password: "second").status == 0)

        try scene.steward.home.write("key", String(repeating: "0123456789abcdef", count: 4))
        try scene.vault("slots", "add", "--new-key-file", "key", password: "second").check()
        let slots = try scene.answer("slots").items
        #expect(Set(slots.map { $0["kind"].text }) == ["password", "key file"])
        let old = try #require(slots.first { $0["kind"].text == "password" })["id"].text
        #expect(try scene.vault("list", "--key-file", "key").status == 0)
        #expect(
            try scene.vault("slots", "remove", old, "--dry-run", password: "second").check().output.contains("would"))
        try scene.vault("slots", "remove", old, "--yes", password: "second").check()
        #expect(try scene.vault("list", password: "second").status == 77)
        let last = try scene.answer("slots").items[0]["id"].text
        let kept = try scene.vault("slots", "remove", last, "--yes", "--key-file", "key")
        #expect(kept.status == 1 && kept.errors.contains("is the last key slot"))

        try scene.vault("export-key", "-o", "exported", "--key-file", "key").check()
        let exported = scene.steward.home.path.appending("exported")
        #expect(try FileStatus.of(exported).map { $0.mode & 0o777 } == 0o600)
        #expect(
            try scene.vault("export-key", "-o", "exported", "--key-file", "key").errors.contains("exists already"))
        try scene.vault("import-key", "exported", new: "third").check()
        #expect(try scene.answer("list", password: "third")["comics"].items.count == 1)
        #expect(try scene.vault("import-key", "key", new: "fourth").status == 64)
    }

    @Test("Rekeying renews all keys, requires a locked vault, and ingests this host's deposits first")
    func rekey() async throws {
        let scene = try VaultScene()
        try scene.deposit("A.cbz")
        try scene.vault("quarantine", "take-in").check()
        let late = try scene.deposit("B.cbz", first: 20)
        let before = try scene.answer("status").items[0]["fingerprint"].text
        #expect(try scene.vault("rekey", "--dry-run", new: "new").check().output.contains("would encrypt 1 comic anew"))
        #expect(try scene.vault("rekey", new: "new").status == 64)
        try await scene.steward.start()
        try scene.vault("unlock").check()
        #expect(try scene.vault("rekey", "--yes", new: "new").errors.contains("steward vault lock"))
        try scene.vault("lock").check()
        try scene.vault("rekey", "--yes", new: "new").check()
        #expect(try scene.vault("list").status == 77)
        #expect(
            try scene.answer("list", password: "new")["comics"].items.map { $0["name"].text } == ["A.cbz", "B.cbz"])
        try scene.vault("extract", "B.cbz", "-o", "b.cbz", password: "new").check()
        #expect(try Descriptor(scene.steward.home.path.appending("b.cbz")).readAll() == late.archive)
        #expect(try scene.answer("status").items[0]["fingerprint"].text != before)
        #expect(try scene.vault("verify", password: "new").check().output.contains("no problems"))
    }

    @Test("An older copy of the vault is rejected until a user, shown both states, accepts it")
    func rollback() throws {
        let scene = try VaultScene()
        try scene.steward.shell(["cp", "-a", scene.path.text, scene.path.text + ".old"]).check()
        try scene.deposit("A.cbz")
        try scene.vault("quarantine", "take-in").check()
        #expect(try scene.vault("accept-rollback", "--yes").check().output.contains("nothing to accept"))
        try scene.steward.shell(["mv", scene.path.text, scene.path.text + ".new"]).check()
        try scene.steward.shell(["mv", scene.path.text + ".old", scene.path.text]).check()
        let listed = try scene.vault("list").check()
        #expect(listed.errors.contains("older copy or another branch"))
        let dry = try scene.vault("accept-rollback", "--dry-run").check().output
        #expect(dry.contains("and this host remembers"))
        try scene.vault("accept-rollback", "--yes").check()
        #expect(try scene.vault("list").check().errors.isEmpty)
    }

    @Test("Another host trusts the vault by its fingerprint only, and its deposits wait for approval")
    func trust() throws {
        let scene = try VaultScene()
        let fingerprint = try scene.answer("status").items[0]["fingerprint"].text
        let other = try AgentFixture()
        let configuration: BytePath = ".config/steward/steward.yaml"
        let own = other.home.path.appending("Steward/vault").text
        let text = try other.home.read(configuration)
        try other.home.write(
            configuration,
            text.replacingOccurrences(of: "~/Steward/vault", with: scene.path.text).replacingOccurrences(
                of: own, with: scene.path.text))
        #expect(try other.run(["vault", "status"]).check().output.contains("does not trust the vault yet"))
        #expect(try other.run(["vault", "trust"]).status == 64)
        let wrong = try other.run(["vault", "trust", "--fingerprint", "1-2-3-4"])
        #expect(wrong.status == 1 && wrong.errors.contains("nothing is trusted"))
        try other.run(["vault", "trust", "--fingerprint", fingerprint]).check()
        #expect(try other.run(["vault", "trust"]).check().output.contains("trusts it already"))
    }
}
