import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Key slots of a vault") struct StoreSlotTests {
    let scene: StoreScene

    init() throws { scene = try StoreScene() }

    @Test("A changed password replaces its slot's only one") func changedPasswordSlot() throws {
        let vault = try scene.create("A.cbz")
        _ = try vault.addSlot(StoreScene.credential("second"))
        vault.lock()
        let objects = try scene.files("vault/objects")
        _ = try scene.locked().change(StoreScene.credential(), to: StoreScene.credential("changed"))
        #expect(try scene.files("vault/objects") == objects)
        #expect(throws: VaultError.self) { try scene.open() }
        try scene.open("second").lock()
        try scene.expect(["A.cbz"], in: scene.open("changed"))
    }

    @Test("Changing a password requires the old one") func changesKnowOld() throws {
        let vault = try scene.create()
        #expect(throws: VaultError.self) {
            try vault.change(StoreScene.credential("wrong"), to: StoreScene.credential("changed"))
        }
        vault.lock()
        _ = try scene.open()
    }

    @Test("Slots are added, listed and removed, but never the last one") func slotsAddedListed() throws {
        let vault = try scene.create()
        let first = try #require(try vault.slots().first).id
        let second = try vault.addSlot(StoreScene.credential("second"))
        #expect(try vault.slots().map(\.id).sorted() == [first, second].sorted())
        try vault.removeSlot(first)
        #expect(throws: Fault.self) { try vault.removeSlot(second) }
        vault.lock()
        #expect(throws: VaultError.self) { try scene.open() }
        try scene.open("second").lock()
    }

    @Test(
        "An exported key creates a slot when all passwords are lost",
        arguments: [nil, [UInt8](repeating: 9, count: 32)])
    func exportedKeyMakes(_ backupKey: [UInt8]?) throws {
        let vault = try scene.create("A.cbz")
        let file = scene.path.appending("key")
        try vault.exportKey(to: file, backupKey: backupKey)
        #expect(try SealedVault.backupKey(inExport: Descriptor(file)) == backupKey)
        #expect(try FileStatus.of(file)?.mode == 0o600)
        #expect(throws: Fault.self) { try vault.exportKey(to: file) }
        vault.lock()
        let bytes = try Descriptor(file).readAll()
        _ = try scene.locked().importKey(file, credential: StoreScene.credential("recovered"))
        try scene.expect(["A.cbz"], in: scene.open("recovered"))
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            try Durable.replaceOwn(file, with: flipped)
            #expect(throws: VaultError.self) {
                try scene.locked().importKey(file, credential: StoreScene.credential("x"))
            }
        }
    }

    @Test("An invalid slot counts as damaged and the others open", arguments: [true, false]) func oddSlotDamaged(
        isLink: Bool
    ) throws {
        let vault = try scene.create("A.cbz")
        let first = try #require(try vault.slots().first).id
        let second = try vault.addSlot(StoreScene.credential("second"))
        vault.lock()
        let path = scene.vault.appending(VaultLayout.slot(first.description))
        try Durable.remove(path)
        if isLink { #expect(symlink("/dev/null", path.text) == 0) } else { try Durable.makeDirectory(path) }
        let again = try scene.locked()
        let slots = try again.slots()
        #expect(slots.count == 2 && slots.filter { $0.damage == nil }.map(\.id) == [second])
        let report = try again.unlock(StoreScene.credential("second"))
        #expect(report.slot == second && report.damagedSlots.count == 1)
        again.lock()
        #expect(throws: VaultError.self) { try scene.open() }
    }

    @Test("The key of another vault is rejected") func keyAnotherVault() throws {
        let other = try StoreScene()
        let file = other.path.appending("key")
        try other.create().exportKey(to: file)
        try scene.create().lock()
        do {
            _ = try scene.locked().importKey(file, credential: StoreScene.credential("x"))
            Issue.record("another vault's key was taken")
        } catch VaultError.strangeVault {}
    }

    @Test("Another vault at the same path is foreign") func anotherVaultPlace() throws {
        try scene.create("A.cbz").lock()
        try scene.remove("vault")
        let host = try scene.host("host")
        let other = try SealedVault.create(
            at: scene.vault, host: scene.host("other"), credentials: [StoreScene.credential()])
        other.lock()
        do {
            try SealedVault(at: scene.vault, host: host).unlock(StoreScene.credential())
            Issue.record("another vault was unlocked")
        } catch VaultError.strangeVault {}
    }
}
