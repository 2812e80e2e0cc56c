import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Rekeying a vault") struct StoreRekeyTests {
    let scene: StoreScene

    init() throws { scene = try StoreScene() }

    private struct Stop: Error {}

    private func rekey(stoppingAt stop: (RekeyProgress) -> Bool = { _ in false }) throws {
        try SealedVault.rekey(
            at: scene.vault, host: scene.host(), old: StoreScene.credential(), new: [StoreScene.credential("new")]
        ) { if stop($0) { throw Stop() } }
    }

    @Test("Everything is under new keys, and the old vault is gone") func everythingUnderNew() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        let entry = try #require(try vault.comic(named: "A.cbz"))
        try vault.setProgress(ReadingProgress(page: 1, isFinished: false, time: .now()), of: entry.id)
        let before = try vault.state()
        vault.lock()
        try rekey()
        #expect(throws: VaultError.self) { try scene.open() }
        let new = try scene.open("new")
        #expect(new.id != vault.id)
        try scene.expect(["A.cbz", "B.cbz"], in: new)
        let after = try new.state()
        #expect(after.progress == before.progress)
        #expect(after.comics.keys.sorted() == before.comics.keys.sorted())
        #expect(after.comics[entry.id]?.duplicateTag != entry.duplicateTag)
        #expect(try scene.add("A.cbz", to: new).entry.id == entry.id)
        #expect(try FileStatus.of(scene.path.appending("vault.rekey")) == nil)
        #expect(try scene.host().pins().map(\.vault) == [new.id])
        _ = try scene.deposit("C.cbz")
    }

    /// Expects it to fail with `part` of a reason, and the vault to be unchanged.
    private func expectRefusal(_ part: String) throws {
        let id = try scene.locked().id
        do {
            try rekey()
            Issue.record("it was not refused")
        } catch let fault as Fault {
            #expect(fault.kind == .refused && fault.message.contains(part), "\(fault.message)")
        }
        #expect(try scene.locked().id == id)
        #expect(try FileStatus.of(scene.path.appending("vault.rekey")) == nil)
    }

    @Test(
        "A vault at the root of its own mount is neither created nor rekeyed, and nothing is written",
        .enabled(if: geteuid() == 0, "only root may mount"))
    func mount() throws {
        let (disk, other) = (scene.path.appending("disk"), scene.path.appending("other"))
        for folder in [disk, other] { try Durable.makeDirectory(folder) }
        func mounted<R>(_ source: BytePath, _ body: () throws -> R) throws -> R? {
            guard try runProgram(["mount", "--bind", source.text, disk.text]).status == 0 else { return nil }
            defer { umount2(disk.text, 2) }  // MNT_DETACH
            return try body()
        }
        let making: Fault?? = try mounted(other) {
            #expect(throws: Fault.self) {
                try SealedVault.create(at: disk, host: scene.host(), credentials: [StoreScene.credential()])
            }
        }
        // If this container does not permit mounting, there is nothing to test.
        guard let making else { return }
        #expect(making?.kind == .refused && making?.message.contains("\(disk)/vault") == true)
        #expect(try scene.files("other").isEmpty)
        #expect(try scene.files("").filter { $0.text.contains(".making-") }.isEmpty)
        try scene.create("A.cbz").lock()
        let before = try scene.files("vault/manifest")
        _ = try mounted(scene.vault) {
            let fault = #expect(throws: Fault.self) {
                try SealedVault.rekey(
                    at: disk, host: scene.host(), old: StoreScene.credential(), new: [StoreScene.credential("new")])
            }
            #expect(fault?.kind == .refused)
        }
        #expect(try scene.files("vault/manifest") == before)
        #expect(try FileStatus.of(scene.path.appending("disk.rekey")) == nil)
        try scene.open().lock()
    }

    @Test("A restored older manifest is rejected and everything stays") func manifestPutBack() throws {
        try scene.create("A.cbz").lock()
        try scene.copy("vault/manifest", to: "manifest.old")
        let vault = try scene.open()
        _ = try scene.add("B.cbz", to: vault)
        vault.lock()
        try scene.copy("vault/manifest", to: "manifest.new")
        try scene.remove("vault/manifest")
        try scene.copy("manifest.old", to: "vault/manifest")
        try expectRefusal("has 2 of its objects, and a rekey would destroy them")
        try scene.remove("vault/manifest")
        try scene.copy("manifest.new", to: "vault/manifest")
        try rekey()
        try scene.expect(["A.cbz", "B.cbz"], in: scene.open("new"))
    }

    @Test("A lost log is rejected") func logLostRefused() throws {
        try scene.create("A.cbz").lock()
        let vault = try scene.open()
        _ = try scene.add("B.cbz", to: vault)
        vault.lock()
        try scene.remove("vault/manifest/log-1-2")
        try expectRefusal("differs from its last state on this host")
    }

    @Test("A vault unknown to this host is rejected") func vaultHostRemembers() throws {
        try scene.create("A.cbz").lock()
        try scene.remove("host/mark")
        try expectRefusal("it cannot check that this is the newest copy")
        try scene.open().lock()
        try rekey()
        try scene.expect(["A.cbz"], in: scene.open("new"))
    }

    @Test("A comic with missing files is rejected and named") func comicFilesGone() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        try Durable.remove(try scene.objectPath(.archive, of: "B.cbz", in: vault))
        vault.lock()
        try expectRefusal("(B.cbz)")
    }

    @Test("Foreign files are not removed") func vaultMakeRemoved() throws {
        try scene.create("A.cbz").lock()
        try Durable.replaceOwn(scene.vault.appending("quarantine/note.txt"), with: [1])
        try expectRefusal("quarantine/note.txt")
    }

    @Test("The old vault stays if the new one lacks anything after the exchange") func oldVaultStays() throws {
        try scene.create("A.cbz").lock()
        #expect(throws: Stop.self) { try rekey { if case .removingOld = $0 { true } else { false } } }
        try scene.copy("vault/objects", to: "objects.kept")
        for fan in try scene.files("vault/objects") {
            for name in try scene.files(BytePath("vault/objects").appending(fan)) {
                try scene.remove(BytePath("vault/objects").appending(fan).appending(name))
            }
        }
        let vault = try scene.locked()
        let report = try vault.unlock(StoreScene.credential("new"))
        #expect(report.keptOld == scene.path.appending("vault.rekey"))
        #expect(try FileStatus.of(scene.path.appending("vault.rekey/vault.json")) != nil)
        vault.lock()
        try scene.remove("vault/objects")
        try scene.copy("objects.kept", to: "vault/objects")
        try scene.expect(["A.cbz"], in: scene.open("new"))
        #expect(try FileStatus.of(scene.path.appending("vault.rekey")) == nil)
    }

    @Test("An interrupted rekey is resumed") func goesInterrupted() throws {
        let vault = try scene.create("A.cbz", "B.cbz", "C.cbz")
        vault.lock()
        #expect(throws: Stop.self) {
            try rekey {
                if case .copying(let done, _) = $0 { done > 0 } else { false }
            }
        }
        // The old vault is still valid, and is used meanwhile.
        let old = try scene.open()
        _ = try old.rename(try #require(try old.comic(named: "A.cbz")).id, to: "Z.cbz")
        _ = try old.remove(try #require(try old.comic(named: "B.cbz")).id)
        old.lock()
        #expect(throws: Stop.self) { try rekey { if case .verifying = $0 { true } else { false } } }
        try rekey()
        try scene.expect(["C.cbz", "Z.cbz"], in: scene.open("new"))
    }

    @Test("An interruption after the exchange is completed by unlocking") func interruptionAfterExchange() throws {
        try scene.create("A.cbz").lock()
        #expect(throws: Stop.self) { try rekey { if case .removingOld = $0 { true } else { false } } }
        #expect(try scene.host().pins().count == 2)
        let new = try scene.open("new")
        try scene.expect(["A.cbz"], in: new)
        #expect(try scene.host().pins().map(\.vault) == [new.id])
        #expect(try FileStatus.of(scene.path.appending("vault.rekey")) == nil)
    }

    @Test("An interruption after the exchange is completed by another rekey") func interruptionAfterExchangeFinished()
        throws
    {
        try scene.create("A.cbz").lock()
        #expect(throws: Stop.self) { try rekey { if case .removingOld = $0 { true } else { false } } }
        let id = try scene.locked().id
        try rekey()
        let new = try scene.open("new")
        #expect(new.id == id)
        try scene.expect(["A.cbz"], in: new)
        #expect(try FileStatus.of(scene.path.appending("vault.rekey")) == nil)
    }

    private struct Judge: DepositJudge {
        var refusing: BytePath?

        func judge(_ deposit: DropContent) throws -> DropVerdict {
            let envelope = deposit.envelope
            if envelope.name == refusing { throw Fault(.refused, "it is no comic") }
            #expect(try ContentHash(of: StoreScene.bytes(deposit)) == deposit.hash)
            return DropVerdict(name: envelope.name, parts: [], summary: ComicSummary())
        }
    }

    private func rekey(
        judge: Judge, stoppingAt stop: (RekeyProgress) -> Bool = { _ in false }
    ) throws {
        try SealedVault.rekey(
            at: scene.vault, host: scene.host(), old: StoreScene.credential(), new: [StoreScene.credential("new")],
            judge: judge
        ) { if stop($0) { throw Stop() } }
    }

    @Test("This host's deposits are ingested first") func hostDepositsTaken() throws {
        try scene.create("A.cbz").lock()
        _ = try scene.deposit("B.cbz")
        _ = try scene.deposit("C.cbz")
        #expect(throws: Fault.self, "nobody says that they are comics") { try rekey() }
        #expect(throws: Stop.self) {
            try rekey(judge: Judge()) { if case .ingesting(let done, _) = $0 { done == 1 } else { false } }
        }
        #expect(try scene.locked().drops().waiting.count == 1)
        try rekey(judge: Judge())
        let new = try scene.open("new")
        try scene.expect(["A.cbz", "B.cbz", "C.cbz"], in: new)
        #expect(try new.drops().waiting.isEmpty && new.drops().missing.isEmpty)
    }

    @Test("A rejected deposit stops the rekey and stays") func refusedDepositStops() throws {
        try scene.create().lock()
        _ = try scene.deposit("B.cbz")
        let drop = try scene.deposit("C.cbz").drop
        let error = #expect(throws: Fault.self) { try rekey(judge: Judge(refusing: "C.cbz")) }
        #expect(error?.message.contains("\(drop)") == true && error?.message.contains("it is no comic") == true)
        #expect(try scene.locked().drops().waiting.contains { $0.id == drop })
        try scene.open().lock()
    }

    @Test("Deposits of other hosts must be approved first") func depositsOtherHosts() throws {
        let vault = try scene.create()
        let other = try scene.host("other")
        try VaultDeposit.trust(VaultDeposit.offered(at: scene.vault, host: other), host: other)
        let strange = try scene.deposit("S.cbz", host: other).drop
        _ = try scene.deposit("B.cbz")
        vault.lock()
        let error = #expect(throws: Fault.self) { try rekey(judge: Judge()) }
        #expect(error?.message.contains("not made") == true)
        #expect(try scene.locked().drops().waiting.map(\.id) == [strange])
        let again = try scene.open()
        try scene.expect(["B.cbz"], in: again)
        _ = try again.ingest(strange, isApproved: true, judge: Judge())
        again.lock()
        try rekey(judge: Judge())
        try scene.expect(["B.cbz", "S.cbz"], in: scene.open("new"))
    }

    @Test("The quarantine is not destroyed with the old vault") func quarantineDestroyedOld() throws {
        let vault = try scene.create("A.cbz")
        let lost = try StoreScene.orphan(ObjectContent(StoreScene.archive("B.cbz")), in: vault).id
        vault.lock()
        _ = try scene.deposit("C.cbz")
        let error = #expect(throws: Fault.self) { try rekey(judge: Judge()) }
        #expect(error?.kind == .refused)
        #expect(error?.message.contains("quarantine") == true && error?.message.contains("destroy") == true)
        #expect(try scene.files("vault/drop").count == 1, "it is said before anything is done")
        #expect(try FileStatus.of(scene.path.appending("vault.rekey")) == nil)
        let again = try scene.locked()
        let report = try again.unlock(StoreScene.credential())
        #expect(throws: Fault.self) { try again.requireWhole(report) }
        #expect(try again.quarantine().map(\.id) == [lost])
        _ = try again.adopt(lost, as: "B.cbz")
        try again.requireWhole(report)
        again.lock()
        try rekey(judge: Judge())
        try scene.expect(["A.cbz", "B.cbz", "C.cbz"], in: scene.open("new"))
    }

    @Test("A damaged vault is not partly copied") func damagedVaultCopied() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        let path = try scene.objectPath(.archive, of: "B.cbz", in: vault)
        var bytes = try Descriptor(path).readAll()
        bytes[70_000] ^= 1
        try Durable.replaceOwn(path, with: bytes)
        vault.lock()
        #expect(throws: VaultError.self) { try rekey() }
        #expect(try scene.open().list().count == 2)
    }
}
