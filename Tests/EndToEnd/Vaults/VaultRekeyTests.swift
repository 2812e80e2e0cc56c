import ComicTestSupport
import ComicVault
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// `steward vault rekey` on vaults that may be damaged.
@Suite("Rekeying a vault")
struct VaultRekeyTests {
    @Test("A restored older manifest is rejected, even in a dry run; nothing is destroyed, and the remedy is given")
    func rolledBack() throws {
        let scene = try VaultScene()
        let manifest = scene.path.appending("manifest")
        try ingest("A.cbz", in: scene)
        try scene.steward.shell(["cp", "-a", manifest.text, manifest.text + ".old"]).check()
        try ingest("B.cbz", first: 5, in: scene)
        try scene.steward.shell(["mv", manifest.text, manifest.text + ".new"]).check()
        try scene.steward.shell(["mv", manifest.text + ".old", manifest.text]).check()
        try expectRefusal("differs from its last state on this host", in: scene)
        try scene.steward.shell(["rm", "-r", manifest.text]).check()
        try scene.steward.shell(["mv", manifest.text + ".new", manifest.text]).check()
        try rekey("--yes", in: scene).check()
        let listed = try scene.vault("list", password: "new").check()
        #expect(listed.output.contains("A.cbz") && listed.output.contains("B.cbz"))
    }

    @Test("A lost last log is rejected; once the copy is accepted and its quarantine empty, the keys are renewed")
    func lostLog() throws {
        let scene = try VaultScene()
        try ingest("A.cbz", in: scene)
        try ingest("B.cbz", first: 5, in: scene)
        let logs = try listDirectory(scene.path.appending("manifest")).map { BytePath(bytes: $0.name).text }
            .filter { $0.hasPrefix("log-") }
        let last = try #require(logs.max { $0.count == $1.count ? $0 < $1 : $0.count < $1.count })
        try Durable.remove(scene.path.appending("manifest").appending(last))
        try expectRefusal("differs from its last state on this host", in: scene)
        try scene.vault("accept-rollback", "--yes").check()
        try expectRefusal("adopt or discard them", in: scene)
        let ids = try scene.answer("quarantine")["objects"].items.map { $0["id"].text }
        #expect(!ids.isEmpty)
        try scene.runVault(["quarantine", "discard"] + ids + ["--yes"], password: VaultScene.password, new: "").check()
        try rekey("--yes", in: scene).check()
    }

    @Test(
        "A dry run checks the space on the disk that gets the copy", .enabled(if: geteuid() == 0, "only root may mount")
    )
    func measuredDisk() throws {
        let scene = try VaultScene(made: false)
        let disk = scene.steward.path("disk")
        try Durable.makeDirectory(disk)
        guard try runProgram(["mount", "-t", "tmpfs", "-o", "size=24M", "none", disk.text]).status == 0 else {
            try Test.cancel("nothing can be mounted here")
        }
        defer { umount2(disk.text, 2) }  // MNT_DETACH
        let file: BytePath = ".config/steward/steward.yaml"
        let text = try scene.steward.home.read(file)
        let moved = text.replacingOccurrences(of: "~/Steward/vault", with: "~/Steward/disk/vault")
        #expect(moved != text, "\(text)")
        try scene.steward.home.write(file, moved)
        try scene.vault("init").check()
        let free = try #require(scene.answer("rekey", "--dry-run")["free"].number)
        #expect(free > 0 && free <= Double(24 << 20), "\(free)")
    }

    @Test("Previously exported keys stop working, and rekey says so before and afterwards")
    func exportedKeys() throws {
        let scene = try VaultScene()
        try ingest("A.cbz", in: scene)
        try scene.vault("export-key", "-o", "exported").check()
        let result = try rekey("--yes", in: scene).check()
        #expect(result.output.contains("Previously exported keys no longer work"), "\(result.output)")
        #expect(
            try scene.steward.run(["vault", "rekey", "--help"]).check().output.contains("exported keys stop working"))
        let imported = try scene.vault("import-key", "exported", new: "third")
        #expect(imported.status != 0, "\(imported.output)")
        #expect(try scene.vault("list", password: "third").status != 0)
        #expect(try scene.vault("list", password: "new").check().output.contains("A.cbz"))
    }

    private func ingest(_ name: BytePath, first: Int = 1, in scene: VaultScene) throws {
        try scene.deposit(name, first: first)
        try scene.vault("quarantine", "take-in").check()
    }

    private func rekey(_ option: String, in scene: VaultScene) throws -> AgentFixture.Result {
        try scene.runVault(["rekey", option], password: VaultScene.password, new: "new")
    }

    private func expectRefusal(_ reason: String, in scene: VaultScene) throws {
        let before = try scene.steward.shell(["sh", "-c", "cd \(scene.path.text) && find . -type f | sort"]).check()
            .output
        for option in ["--dry-run", "--yes"] {
            let result = try rekey(option, in: scene)
            #expect(result.status == 1 && result.errors.contains(reason), "\(result.errors)")
        }
        let after = try scene.steward.shell(["sh", "-c", "cd \(scene.path.text) && find . -type f | sort"]).check()
            .output
        #expect(before == after)
    }
}
