import ComicTestSupport
import ComicVault
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Vaults left in need of a decision by a crash, a power cut or a restored backup.
@Suite("Vaults that need a user's decision")
struct VaultMendingTests {
    /// Restores a folder from a copy.
    private func restore(_ folder: BytePath, from copy: BytePath, in scene: VaultScene) throws {
        try scene.steward.shell(["rm", "-rf", folder.text]).check()
        try scene.steward.shell(["cp", "-a", copy.text, folder.text]).check()
    }

    @Test("Unrecorded objects wait in quarantine: the archive is adopted, the rest discarded")
    func quarantine() throws {
        let scene = try VaultScene()
        let manifest = scene.path.appending("manifest")
        let kept = scene.steward.home.path.appending("kept")
        try scene.steward.shell(["mkdir", kept.text]).check()
        let saga = try scene.deposit("Saga.cbz")
        try scene.steward.shell(["cp", "-a", manifest.text, scene.host.text, kept.text]).check()
        try scene.vault("quarantine", "take-in").check()
        #expect(try scene.names() == ["Saga.cbz"])
        // As if the power had failed before the record was on disk.
        try restore(manifest, from: kept.appending("manifest"), in: scene)
        try restore(scene.host, from: kept.appending(name: scene.host.name), in: scene)

        let listed = try scene.vault("quarantine").check()
        #expect(listed.errors.contains("without a comic moved to the quarantine"))
        #expect(listed.output.contains("missing  \(saga.drop)"))
        let objects = try scene.answer("quarantine")["objects"].items
        let archive = try #require(objects.first { $0["kind"].text == "archive" }?["id"].text)
        let others = objects.map { $0["id"].text }.filter { $0 != archive }
        #expect(!others.isEmpty)
        #expect(try scene.names().isEmpty)

        // A rekey would leave them behind in the old vault, which is removed.
        for arguments in [["rekey", "--dry-run"], ["rekey", "--yes"]] {
            let rekey = try scene.runVault(arguments, password: VaultScene.password, new: "new")
            #expect(rekey.status == 1 && rekey.errors.contains("adopt or discard them"))
        }

        let first = try #require(others.first)
        #expect(try scene.vault("quarantine", "adopt", first).status == 1, "it is no archive")
        #expect(try scene.vault("quarantine", "adopt", "0123").status == 64)
        let adopted = try scene.vault("quarantine", "adopt", String(archive.prefix(12)), "--name", "Saga again.cbz")
        #expect(try adopted.check().output.contains("adopted Saga again.cbz"))
        #expect(try scene.names() == ["Saga again.cbz"])
        try scene.vault("extract", "Saga again.cbz", "-o", "out.cbz").check()
        #expect(try Descriptor(scene.steward.home.path.appending("out.cbz")).readAll() == saga.archive)
        try scene.vault("page", "Saga again.cbz", "2", "-o", "p.png").check()
        #expect(try Descriptor(scene.steward.home.path.appending("p.png")).readAll() == picture(2))

        let ids = others + [saga.drop.description]
        let dry = try scene.runVault(
            ["quarantine", "discard"] + ids + ["--dry-run"], password: VaultScene.password, new: "")
        #expect(try dry.check().output.contains("an object without a comic"))
        #expect(dry.output.contains("a deposit that is gone"))
        let refused = try scene.runVault(["quarantine", "discard"] + ids, password: VaultScene.password, new: "")
        #expect(refused.status == 64, "nobody can be asked")
        try scene.runVault(["quarantine", "discard"] + ids + ["--yes"], password: VaultScene.password, new: "").check()
        #expect(try scene.vault("quarantine").check().output.contains("nothing waits"))
        #expect(try scene.vault("verify").check().output.contains("no problems"))
    }

    @Test("An incomplete last record is dropped and reported if this host's mark proves it unfinished")
    func tornTail() throws {
        let scene = try VaultScene()
        try scene.deposit("A.cbz")
        try scene.vault("quarantine", "take-in").check()
        let mark = scene.host.appending("mark")
        let before = try Descriptor(mark).readAll()
        let (log, length) = try renamed("A.cbz", to: "B.cbz", in: scene)
        try cut(log, to: length - 3)
        try Durable.replaceOwn(mark, with: before)
        let listed = try scene.vault("list").check()
        #expect(listed.output.contains("A.cbz") && listed.errors.contains("incomplete last record"))
        // The next change starts a new log, and nothing is reported any more.
        try scene.vault("rename", "A.cbz", "C.cbz").check()
        let again = try scene.vault("list").check()
        #expect(again.output.contains("C.cbz") && again.errors.isEmpty, "\(again.errors)")
    }

    @Test("If the mark is lost as well, a user must decide, even when the agent unlocks")
    func tornTailWithoutMark() async throws {
        let scene = try VaultScene()
        try scene.deposit("A.cbz")
        try scene.vault("quarantine", "take-in").check()
        let (log, length) = try renamed("A.cbz", to: "B.cbz", in: scene)
        try cut(log, to: length - 3)
        try Durable.remove(scene.host.appending("mark"))
        #expect(try scene.vault("list").status == 64, "nobody can be asked here")
        try await scene.steward.start()
        let asked = try scene.vault("unlock")
        #expect(asked.status == 64 && asked.errors.contains("incomplete"), "\(asked.errors)")
        #expect(try !scene.isUnlocked())
        let session = try TerminalSession(scene.steward, ["vault", "unlock"])
        try await session.expect("Password for the vault main: ")
        try session.type(VaultScene.password)
        try await session.expect("Drop the incomplete record")
        try session.type("y")
        #expect(try await session.end() == 0)
        #expect(session.screen.contains("this host's mark of the vault was lost"))
        #expect(try scene.names() == ["A.cbz"])
        try scene.vault("rename", "A.cbz", "C.cbz").check()
        #expect(try scene.vault("verify").check().output.contains("no problems"))
    }

    /// - Returns: the log that took the record, and its length.
    private func renamed(_ old: String, to new: String, in scene: VaultScene) throws -> (BytePath, Int64) {
        let manifest = scene.path.appending("manifest")
        func sizes() throws -> [BytePath: Int64] {
            var sizes: [BytePath: Int64] = [:]
            for entry in try listDirectory(manifest) {
                let path = manifest.appending(name: entry.name)
                sizes[path] = try FileStatus.of(path)?.size
            }
            return sizes
        }
        let before = try sizes()
        try scene.vault("rename", old, new).check()
        let grown = try #require(try sizes().first { before[$0.key] != $0.value && $0.value > 0 })
        return (grown.key, grown.value)
    }

    private func cut(_ path: BytePath, to length: Int64) throws {
        try Durable.replaceOwn(path, with: Descriptor(path).readAll().prefix(Int(length)).map { $0 })
    }

    @Test("Slow reads from an unlocked vault are complete; locking does not wait for them, and ends them")
    func slowReader() async throws {
        let scene = try VaultScene()
        try await scene.steward.start()
        let saga = try scene.deposit("Saga.cbz", pages: 700)
        try scene.vault("unlock").check()
        try await scene.steward.until("it is taken in") { try scene.names() == ["Saga.cbz"] }
        let slow = try await extracted(in: scene) {}
        #expect(slow.status == "0" && slow.bytes == saga.archive)
        let ended = try await extracted(in: scene) { try scene.vault("lock").check() }
        #expect(ended.status == "1" && ended.bytes.count < saga.archive.count)
        #expect(saga.archive.starts(with: ended.bytes))
    }

    /// Extracts into a pipe that is not read before `meanwhile` has ended.
    private func extracted(
        in scene: VaultScene, meanwhile: () throws -> Void
    ) async throws -> (status: String, bytes: [UInt8]) {
        let home = scene.steward.home.path
        for name in ["go", "begun", "slow.cbz", "status"] { try Durable.remove(home.appending(name)) }
        let script = """
            mkfifo go
            { "$0" vault extract Saga.cbz -o - ; echo $? > status; } | {
                dd bs=1 count=1 of=slow.cbz 2>/dev/null; : > begun; read -r _ < go; cat >> slow.cbz; }
            """
        let reader = Task.detached { [steward = scene.steward] in
            try steward.shell(["sh", "-c", script, AgentFixture.binary])
        }
        try await waitUntil("the extraction has begun") { try FileStatus.of(home.appending("begun")) != nil }
        try meanwhile()
        try scene.steward.shell(["sh", "-c", "echo > go"]).check()
        try await reader.value.check()
        let status = try Descriptor(home.appending("status")).readAll()
        return (
            String(decoding: status, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines),
            try Descriptor(home.appending("slow.cbz")).readAll()
        )
    }
}
