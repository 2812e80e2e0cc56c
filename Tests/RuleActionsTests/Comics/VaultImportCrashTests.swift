import ComicArchive
import ComicTestSupport
import ComicVault
import FileActions
import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// `import-comic` into a vault, interrupted at critical points: done once.
@Suite("Crashes during an import into a vault")
struct VaultImportCrashTests {
    @Test("A crash after sealing, before anything was recorded: found by its key, and the source is removed")
    func crashAfterSealing() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try scene.drop("a.cbz", bytes)
        try await scene.unlock()
        let (intent, world) = try await decided(scene)
        try await importComic(bytes, scene)
        guard case .done(let receipt) = try await world.action(VaultScene.entry).recovered(intent, step: "job.0") else {
            Issue.record("it is not found done")
            return
        }
        #expect(VaultScene.text(receipt, "state") == "sealed")
        #expect(try await scene.comics().count == 1)
        #expect(try !scene.scene.exists("dropbox/a.cbz"))
        #expect(try await world.action(VaultScene.entry).performed(intent, step: "job.0") == receipt)
    }

    @Test("A crash after depositing, before anything was recorded: repeated, and still one comic")
    func crashAfterDepositing() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try scene.drop("a.cbz", bytes)
        let (intent, world) = try await decided(scene)
        try await importComic(bytes, scene)
        guard case .notDone = try await world.action(VaultScene.entry).recovered(intent, step: "job.0") else {
            Issue.record("a locked vault cannot know it")
            return
        }
        _ = try await world.run(VaultScene.entry, on: "a.cbz")
        #expect(try scene.drops() == 2)
        try await scene.unlock()
        #expect(try await scene.comics().count == 1 && scene.drops() == 0)
    }

    @Test("A sealed comic that is missing from that vault is sealed again before its source is removed")
    func crashAndAnotherFolder() async throws {
        for isLocked in [true, false] {
            let scene = try VaultScene()
            let bytes = try VaultScene.comic()
            try scene.drop("a.cbz", bytes)
            let vault = scene.scene.path("vault")
            let (intent, world) = try await decided(scene)
            let copy = scene.scene.path("vault.copy")
            try runProgram(["/bin/cp", "-a", vault.text, copy.text]).check()
            if !isLocked { try await scene.unlock() }
            // As if a run had ended between the record and the source's removal.
            _ = try await world.action("import-comic: { vault: main, source: keep }").performed(
                intent.replacing("\"remove\"", with: "\"keep\""), step: "job.0")
            await scene.service.lock(.stop)
            // From before the record.
            try runProgram(["/bin/mv", vault.text, scene.scene.path("vault.old").text]).check()
            try runProgram(["/bin/mv", copy.text, vault.text]).check()
            let action = try world.action(VaultScene.entry)
            guard case .notDone = try await action.recovered(intent, step: "job.0") else {
                Issue.record("it is taken for done")
                return
            }
            #expect(try scene.scene.exists("dropbox/a.cbz"))
            let receipt = try await action.performed(intent, step: "job.0")
            #expect(VaultScene.text(receipt, "state") == "deposited")
            #expect(try scene.drops() == 1)
            #expect(try !scene.scene.exists("dropbox/a.cbz"))
        }
    }

    @Test("A crash between the record and the source's removal: the source is removed, nothing is sealed again")
    func crashAfterNoting() async throws {
        for isLocked in [true, false] {
            let scene = try VaultScene()
            let bytes = try VaultScene.comic()
            try scene.drop("a.cbz", bytes)
            if !isLocked { try await scene.unlock() }
            let deed = try await scene.open().run(VaultScene.entry, on: "a.cbz")
            // As if it had not been removed yet.
            try scene.drop("a.cbz", bytes)
            guard
                case .done(let receipt) = try await scene.open().action(VaultScene.entry).recovered(
                    deed.intent, step: "job.0")
            else {
                Issue.record("it is not found done")
                return
            }
            #expect(receipt == deed.receipt)
            #expect(try !scene.scene.exists("dropbox/a.cbz"))
            if isLocked { #expect(try scene.drops() == 1) } else { #expect(try await scene.comics().count == 1) }
        }
    }

    @Test("A source that must be copied to the trash is recorded in the ledger before the copy has a byte")
    func copiedIntoTrash() async throws {
        let scene = try VaultScene()
        guard try FileStatus.of(scene.scene.far)?.device != FileStatus.of(scene.scene.home.path)?.device else {
            try Test.cancel("there is no other file system to write to")
        }
        try scene.drop("a.cbz", try VaultScene.comic())
        let world = try scene.open()
        let input = try world.input("a.cbz")
        let slot = try TrashedFile(of: input, in: TrashCan(home: scene.scene.path("trash"))).slot
        let action = try world.action("import-comic: { vault: main, source: trash }")
        let intent = HiddenLife.moving(slot, toTrashIn: scene.scene.far, in: try await action.decided(input))
        let receipt = try await action.performed(intent, step: "job.0")
        let trash = try #require(receipt.effects.first?.destination?.parent)
        #expect(trash == scene.scene.far.appending("Trash/files"))
        let staged = try await world.ledger.read { try $0.staged() }
        #expect(staged.contains { $0.job == "job.0" && $0.path.parent == trash })
    }

    @Test("Another version that has taken the source's name is not removed")
    func otherVersion() async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try VaultScene.comic(1))
        let deed = try await scene.open().run(VaultScene.entry, on: "a.cbz")
        let other = try VaultScene.comic(2)
        try scene.drop("a.cbz", other)
        let again = try await deed.action.performed(deed.intent, step: deed.step)
        #expect(again.effects.isEmpty && again.summary.contains("stays"))
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/a.cbz")) == ContentHash(of: other))
    }

    private func decided(_ scene: VaultScene) async throws -> (String, ActionWorld) {
        let world = try scene.open()
        return (try await world.action(VaultScene.entry).decided(world.input("a.cbz")), world)
    }

    /// What the action does before it records anything.
    private func importComic(_ bytes: [UInt8], _ scene: VaultScene) async throws {
        _ = try await scene.service.importComic(
            VaultComic(
                archive: Descriptor(scene.scene.path("dropbox/a.cbz")), hash: ContentHash(of: bytes), name: "a.cbz",
                summary: ComicSummary(), key: Array("job.0".utf8)))
    }
}
