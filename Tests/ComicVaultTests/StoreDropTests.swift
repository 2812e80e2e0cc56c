import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite struct VaultDrops {
    let scene: StoreScene

    init() throws { scene = try StoreScene() }

    @Test func aComicIsImportedWhileTheVaultIsLocked() throws {
        try scene.create("A.cbz").lock()
        let deposit = try scene.deposit("B.cbz")
        #expect(try scene.files("vault/drop") == [BytePath(deposit.drop.description)])
        let vault = try scene.open()
        #expect(try vault.list().map(\.name) == ["A.cbz"])
        try scene.takeInAll(vault)
        try scene.expect(["A.cbz", "B.cbz"], in: vault)
        #expect(try scene.files("vault/drop").isEmpty)
        #expect(try scene.host().deposits().isEmpty)
        let entry = try #require(try vault.comic(named: "B.cbz"))
        #expect(entry.drop == deposit.drop)
        #expect(entry.key == Array("B.cbz".utf8))
        #expect(entry.objects.allSatisfy { $0.id != deposit.drop })
    }

    @Test func nothingIsSealedToAKeyThatIsNotTrusted() throws {
        let vault = try scene.create()
        vault.lock()
        let stranger = try scene.host("stranger")
        #expect(throws: VaultError.self) { try scene.deposit("B.cbz", host: stranger) }
        let offered = try VaultDeposit.offered(at: scene.vault, host: stranger)
        try VaultDeposit.trust(offered, host: stranger)
        _ = try scene.deposit("B.cbz", host: stranger)

        let key = scene.vault.appending("vault.pub")
        let right = try Descriptor(key).readAll()
        try Durable.replaceOwn(key, with: try VaultKeyPair(privateKey: .random(32)).publicKey)
        do {
            _ = try scene.deposit("C.cbz")
            Issue.record("it was sealed to another's key")
        } catch VaultError.notTrusted {}
        #expect(try scene.files("vault/drop").count == 1)
        // The right key follows from any slot.
        let again = try scene.locked()
        #expect(try again.unlock(StoreScene.credential()).isPublicKeyRestored)
        #expect(try Descriptor(key).readAll() == right)
    }

    @Test func aDepositThatThisHostDidNotMakeWaitsForApproval() throws {
        let vault = try scene.create()
        vault.lock()
        let stranger = try scene.host("stranger")
        try VaultDeposit.trust(VaultDeposit.offered(at: scene.vault, host: stranger), host: stranger)
        let deposit = try scene.deposit("B.cbz", host: stranger)
        let again = try scene.open()
        guard case .unknown = try #require(try again.drops().waiting.first).origin else {
            throw TestFailure("a strange deposit is taken for an own one")
        }
        #expect(throws: Fault.self) { try again.takeIn(deposit.drop) { try StoreScene.verdict($0) } }
        _ = try again.takeIn(deposit.drop, isApproved: true) { try StoreScene.verdict($0) }
        try scene.expect(["B.cbz"], in: again)
    }

    @Test func aDepositThatIsGoneOrAnotherIsSaid() throws {
        let vault = try scene.create()
        let one = try scene.deposit("B.cbz")
        let other = try scene.deposit("C.cbz")
        try scene.remove(BytePath("vault/drop/\(one.drop)"))
        let path = scene.vault.appending(VaultLayout.drop(other.drop))
        var bytes = try Descriptor(path).readAll()
        bytes[150] ^= 1
        try Durable.replaceOwn(path, with: bytes)
        let report = try vault.drops()
        #expect(report.missing == [one])
        guard case .changed = try #require(report.waiting.first).origin else { throw TestFailure("not seen") }
        #expect(throws: (any Error).self) {
            try vault.takeIn(other.drop, isApproved: true) { try StoreScene.verdict($0) }
        }
        #expect(try vault.list().isEmpty)
    }

    @Test func aDepositThatIsNoComicStaysWhereItIs() throws {
        let vault = try scene.create()
        let deposit = try scene.deposit("B.cbz")
        #expect(throws: Fault.self) {
            try vault.takeIn(deposit.drop) { _ in throw Fault(.refused, "no comic") }
        }
        #expect(throws: Fault.self) { try vault.takeIn(deposit.drop, limit: 100) { try StoreScene.verdict($0) } }
        #expect(try vault.drops().waiting.map(\.id) == [deposit.drop])
        try scene.expect([], in: vault)
    }

    @Test func aRepeatedDepositIsOneComic() throws {
        let vault = try scene.create()
        _ = try scene.deposit("B.cbz")
        _ = try scene.deposit("B.cbz")
        try scene.takeInAll(vault)
        try scene.expect(["B.cbz"], in: vault)
        #expect(try scene.files("vault/drop").isEmpty)
    }

    @Test func aDepositUnderAnotherNameOrInAnotherVaultDoesNotOpen() throws {
        let vault = try scene.create()
        let deposit = try scene.deposit("B.cbz")
        let bytes = try Descriptor(scene.vault.appending(VaultLayout.drop(deposit.drop))).readAll()
        let renamed = try ObjectID.random()
        try Durable.replaceOwn(scene.vault.appending(VaultLayout.drop(renamed)), with: bytes)
        #expect(throws: VaultError.self) {
            try vault.takeIn(renamed, isApproved: true) { try StoreScene.verdict($0) }
        }
        let other = try StoreScene()
        let strange = try other.create()
        try Durable.replaceOwn(other.vault.appending(VaultLayout.drop(deposit.drop)), with: bytes)
        #expect(throws: VaultError.self) {
            try strange.takeIn(deposit.drop, isApproved: true) { try StoreScene.verdict($0) }
        }
    }
}
