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

/// Undo of `import-comic` into a vault.
@Suite("Undoing an import into a vault")
struct VaultImportUndoTests {
    @Test("Undo takes a comic out of the unlocked vault and restores it, byte for byte")
    func undone() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try scene.drop("Heron/a.cbz", bytes)
        let deed = try await scene.open().run(VaultScene.entry, on: "Heron/a.cbz")
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.message.contains("unlock") == true)
        #expect(try scene.drops() == 1)
        try await scene.unlock()
        let receipt = try await deed.undo()
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/Heron/a.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().isEmpty)
        #expect(receipt.effects.count == 1)
    }

    @Test("Undo restores a source with a hidden name from the trash under that name, even after a restart")
    func undoneFromTrash() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try scene.drop("Heron/a.cbz", bytes)
        try await scene.unlock()
        let entry = "import-comic: { vault: main, source: trash }"
        let world = try scene.open()
        try HiddenLife.begin(world)
        let names = world.ledger.names
        let intent = try await world.action(entry).decided(try world.input("Heron/a.cbz"), hiding: names)
        let receipt = try LedgerJSON.encode(
            try await world.action(entry).performed(intent, showing: names), hiding: names)
        #expect(try !scene.scene.exists("dropbox/Heron/a.cbz"))
        let next = try scene.open()
        try HiddenLife.begin(next)
        _ = try await next.action(entry).undone(intent, receipt, showing: next.ledger.names)
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/Heron/a.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().isEmpty)
    }

    @Test("Undoing a deposit with a kept source removes the deposit, without any key")
    func undoneLocked() async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try VaultScene.comic())
        let deed = try await scene.open().run("import-comic: { vault: main, source: keep }", on: "a.cbz")
        #expect(try scene.drops() == 1)
        try await deed.undo()
        #expect(try scene.drops() == 0)
        try await scene.unlock()
        #expect(try await scene.comics().isEmpty)
    }

    @Test(
        "Undoing an import with a kept source restores the file if somebody has removed it",
        arguments: [true, false])
    func undoneWithoutSource(isChanged: Bool) async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        let deed = try await scene.open().run("import-comic: { vault: main, source: keep }", on: "a.cbz")
        if isChanged {
            try scene.drop("a.cbz", try VaultScene.comic(2))
        } else {
            try Durable.remove(scene.scene.path("dropbox/a.cbz"))
        }
        let receipt = try await deed.undo()
        let back: BytePath = isChanged ? "dropbox/a (1).cbz" : "dropbox/a.cbz"
        #expect(try ContentHash.ofFile(scene.scene.path(back)) == ContentHash(of: bytes))
        #expect(receipt.effects.count == 1 && receipt.summary.contains("it is back"))
        #expect(try await scene.comics().isEmpty)
    }

    @Test("Undoing a deposit keeps it if the kept source is gone")
    func undoneLockedWithoutSource() async throws {
        let scene = try VaultScene()
        try scene.drop("a.cbz", try VaultScene.comic())
        let deed = try await scene.open().run("import-comic: { vault: main, source: keep }", on: "a.cbz")
        try Durable.remove(scene.scene.path("dropbox/a.cbz"))
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.kind == .failed && fault?.message.contains("unlock") == true)
        #expect(try scene.drops() == 1)
    }

    @Test("Undoing a deposit that the vault did not ingest as a duplicate restores the file")
    func undoneDuplicateDeposit() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run(VaultScene.entry, on: "a.cbz")
        await scene.service.lock(.asked)
        try scene.drop("b.cbz", bytes)
        let deed = try await scene.open().run(VaultScene.entry, on: "b.cbz", step: "job.1")
        try await scene.unlock()
        #expect(try await scene.comics().count == 1)
        try await deed.undo()
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/b.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().count == 1)
    }

    @Test("Undoing a duplicate restores the file and leaves the vault's copy alone")
    func undoneDuplicate() async throws {
        let scene = try VaultScene()
        let bytes = try VaultScene.comic()
        try await scene.unlock()
        try scene.drop("a.cbz", bytes)
        _ = try await scene.open().run(VaultScene.entry, on: "a.cbz")
        try scene.drop("b.cbz", bytes)
        let deed = try await scene.open().run(VaultScene.entry, on: "b.cbz", step: "job.1")
        try await deed.undo()
        #expect(try ContentHash.ofFile(scene.scene.path("dropbox/b.cbz")) == ContentHash(of: bytes))
        #expect(try await scene.comics().count == 1)
    }
}
