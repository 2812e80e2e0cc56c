import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Deposits into a locked vault") struct StoreDropTests {
    let scene: StoreScene

    init() throws { scene = try StoreScene() }

    @Test("A comic is imported while the vault is locked") func comicImportedVault() throws {
        try scene.create("A.cbz").lock()
        let deposit = try scene.deposit("B.cbz")
        #expect(try scene.files("vault/drop") == [BytePath(deposit.drop.description)])
        let vault = try scene.open()
        #expect(try vault.list().map(\.name) == ["A.cbz"])
        try scene.ingestAll(vault)
        try scene.expect(["A.cbz", "B.cbz"], in: vault)
        #expect(try scene.files("vault/drop").isEmpty)
        #expect(try scene.host().deposits().isEmpty)
        let entry = try #require(try vault.comic(named: "B.cbz"))
        #expect(entry.drop == deposit.drop)
        #expect(entry.key == Array("B.cbz".utf8))
        #expect(entry.objects.allSatisfy { $0.id != deposit.drop })
    }

    @Test("Nothing is sealed to an untrusted key") func nothingSealedKey() throws {
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

    @Test("A deposit not made by this host waits for approval") func depositHostMake() throws {
        let vault = try scene.create()
        vault.lock()
        let stranger = try scene.host("stranger")
        try VaultDeposit.trust(VaultDeposit.offered(at: scene.vault, host: stranger), host: stranger)
        let deposit = try scene.deposit("B.cbz", host: stranger)
        let again = try scene.open()
        guard case .unknown = try #require(try again.drops().waiting.first).origin else {
            throw TestFailure("a strange deposit is taken for an own one")
        }
        #expect(throws: Fault.self) { try again.ingest(deposit.drop) { try StoreScene.verdict($0) } }
        _ = try again.ingest(deposit.drop, isApproved: true) { try StoreScene.verdict($0) }
        try scene.expect(["B.cbz"], in: again)
    }

    @Test("A deposit that is missing or was replaced is reported") func depositGoneAnother() throws {
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
            try vault.ingest(other.drop, isApproved: true) { try StoreScene.verdict($0) }
        }
        #expect(try vault.list().isEmpty)
    }

    @Test("A deposit that is not a comic stays where it is") func depositComicStays() throws {
        let vault = try scene.create()
        let deposit = try scene.deposit("B.cbz")
        #expect(throws: Fault.self) {
            try vault.ingest(deposit.drop) { _ in throw Fault(.refused, "no comic") }
        }
        #expect(try vault.drops().waiting.map(\.id) == [deposit.drop])
        try scene.expect([], in: vault)
    }

    @Test("A repeated deposit yields one comic") func repeatedDepositComic() throws {
        let vault = try scene.create()
        _ = try scene.deposit("B.cbz")
        _ = try scene.deposit("B.cbz")
        try scene.ingestAll(vault)
        try scene.expect(["B.cbz"], in: vault)
        #expect(try scene.files("vault/drop").isEmpty)
    }

    // MARK: What the vault has already

    /// Replaces a file by `change`, or removes it.
    private func damage(_ path: BytePath, isMissing: Bool) throws {
        if isMissing { return try Durable.remove(path) }
        var bytes = try Descriptor(path).readAll()
        bytes[70_000] ^= 1
        try Durable.replaceOwn(path, with: bytes)
    }

    @Test("A damaged or missing copy in the vault is no reason to discard the deposit's", arguments: [true, false])
    func damagedCopy(isMissing: Bool) throws {
        let vault = try scene.create("B.cbz")
        try damage(scene.objectPath(.archive, of: "B.cbz", in: vault), isMissing: isMissing)
        // The same import again, and another one of the same bytes.
        for (name, key) in [("C.cbz", "B.cbz"), ("D.cbz", "another")] {
            let deposit = try scene.deposit(name, content: "B.cbz", key: key)
            let outcome = try vault.ingest(deposit.drop) { try StoreScene.verdict($0, of: "B.cbz") }
            if name == "C.cbz" {
                let entry = try #require(try vault.comic(named: "C.cbz"))
                #expect(outcome == .added(entry) && entry.drop == deposit.drop && entry.key.isEmpty)
            } else {
                #expect(!outcome.isNew, "a copy that is whole stands beside the damaged one")
            }
            #expect(try scene.files("vault/drop").isEmpty)
        }
        #expect(try vault.list().map(\.name) == ["B.cbz", "C.cbz"])
        #expect(try vault.verify().findings.map(\.entry.name) == ["B.cbz"])
        let bytes = StoreScene.archive("B.cbz")
        let whole = try #require(try vault.wholeComic(content: ContentHash(of: bytes)))
        #expect(whole.name == "C.cbz")
        #expect(try vault.open(.archive, of: whole.id).read(at: 0, count: bytes.count) == bytes)
    }

    @Test("A deposit with another comic's key is not a repetition of it")
    func strangeKey() throws {
        let vault = try scene.create("A.cbz")
        let deposit = try scene.deposit("B.cbz", key: "A.cbz")
        _ = try vault.ingest(deposit.drop) { try StoreScene.verdict($0) }
        try scene.expect(["A.cbz", "B.cbz"], in: vault)
    }

    @Test("A deposit by this host keeps a duplicate if asked to; another host's does not")
    func keeps() throws {
        let vault = try scene.create("A.cbz")
        let stranger = try scene.host("stranger")
        try VaultDeposit.trust(VaultDeposit.offered(at: scene.vault, host: stranger), host: stranger)
        let own = try scene.deposit("B.cbz", content: "A.cbz", duplicates: .keep)
        let strange = try scene.deposit("C.cbz", content: "A.cbz", duplicates: .keep, host: stranger)
        let first = try vault.ingest(own.drop) { try StoreScene.verdict($0, of: "A.cbz") }
        #expect(first.isNew && first.entry.key == Array("B.cbz".utf8))
        let second = try vault.ingest(strange.drop, isApproved: true) { try StoreScene.verdict($0, of: "A.cbz") }
        #expect(!second.isNew)
        try scene.expect(["A.cbz", "B.cbz"], in: vault)
        // Once, however often it was deposited.
        let again = try scene.deposit("B.cbz", content: "A.cbz", duplicates: .keep)
        _ = try vault.ingest(again.drop) { try StoreScene.verdict($0, of: "A.cbz") }
        try scene.expect(["A.cbz", "B.cbz"], in: vault)
    }

    @Test(
        "An archive that differs from its envelope is not ingested, and is no repetition of another",
        arguments: ["A.cbz", "C.cbz"])
    func lyingEnvelope(_ claimed: String) throws {
        let vault = try scene.create("A.cbz")
        let drop = try scene.lyingDeposit("B.cbz", claiming: claimed)
        let error = #expect(throws: VaultError.self) {
            try vault.ingest(drop, isApproved: true) { try StoreScene.verdict($0) }
        }
        #expect(error?.description.contains("differs from the one in its envelope") == true)
        #expect(try scene.files("vault/drop") == [BytePath("\(drop)")])
        try scene.expect(["A.cbz"], in: vault)
    }

    // MARK: Sizes

    @Test("Anything accepted while the vault is locked is ingested later, up to the last byte of the limit")
    func limit() throws {
        let vault = try scene.create()
        let length = Int64(StoreScene.archive("B.cbz").count)
        let deposit = try scene.deposit("B.cbz")
        let size = try #require(try vault.drops().waiting.first).size
        #expect(size > length, "the file has more than the archive")
        _ = try vault.ingest(deposit.drop, limit: length) { try StoreScene.verdict($0) }
        try scene.expect(["B.cbz"], in: vault)
    }

    @Test("A deposit beyond the limit waits until a person says to ingest it")
    func beyondTheLimit() throws {
        let vault = try scene.create()
        let deposit = try scene.deposit("B.cbz")
        let fault = #expect(throws: Fault.self) {
            try vault.ingest(deposit.drop, limit: 100) { try StoreScene.verdict($0) }
        }
        #expect(fault?.kind == .refused && fault?.code == VaultDeposit.tooLarge)
        #expect(fault?.message.contains("take-in \(deposit.drop)") == true)
        #expect(try vault.drops().waiting.map(\.id) == [deposit.drop])
        _ = try vault.ingest(deposit.drop, isApproved: true, limit: 100) { try StoreScene.verdict($0) }
        try scene.expect(["B.cbz"], in: vault)
    }

    @Test("An archive that no unlock would ingest is not sealed")
    func tooLarge() throws {
        try scene.create().lock()
        let path = scene.path.appending("large")
        let file = try Descriptor(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        #expect(ftruncate(file.raw, off_t(VaultDeposit.archiveLimit + 1)) == 0)
        let envelope = DropEnvelope(
            name: "large.cbz", source: "", hash: ContentHash(of: [UInt8]()), time: .now())
        let fault = #expect(throws: Fault.self) {
            try VaultDeposit.seal(file, envelope, into: scene.vault, host: scene.host())
        }
        #expect(fault?.kind == .refused && fault?.code == VaultDeposit.tooLarge)
        #expect(fault?.message.contains("2 GiB") == true && fault?.message.contains("large") == false)
        #expect(try scene.files("vault/drop").isEmpty && scene.files("vault/tmp").isEmpty)
        #expect(try scene.host().deposits().isEmpty)
    }

    @Test("A deposit under another name or in another vault does not open") func depositUnderAnother() throws {
        let vault = try scene.create()
        let deposit = try scene.deposit("B.cbz")
        let bytes = try Descriptor(scene.vault.appending(VaultLayout.drop(deposit.drop))).readAll()
        let renamed = try ObjectID.random()
        try Durable.replaceOwn(scene.vault.appending(VaultLayout.drop(renamed)), with: bytes)
        #expect(throws: VaultError.self) {
            try vault.ingest(renamed, isApproved: true) { try StoreScene.verdict($0) }
        }
        let other = try StoreScene()
        let strange = try other.create()
        try Durable.replaceOwn(other.vault.appending(VaultLayout.drop(deposit.drop)), with: bytes)
        #expect(throws: VaultError.self) {
            try strange.ingest(deposit.drop, isApproved: true) { try StoreScene.verdict($0) }
        }
    }
}
