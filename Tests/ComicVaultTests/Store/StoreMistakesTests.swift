import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// Mistakes of an earlier comic vault, unless another suite covers them.
@Suite("Mistakes of an earlier vault")
struct StoreMistakesTests {
    private let scene: StoreScene

    init() throws { scene = try StoreScene() }

    /// Every file below the scene's folder except the host's own, with a fingerprint.
    private func everything() throws -> [BytePath: Fingerprint] {
        var found: [BytePath: Fingerprint] = [:]
        for path in try TamperingScene.files(in: scene.path, "") where !path.text.hasPrefix("host/") {
            found[path] = try FileStatus.of(scene.path.appending(path))?.fingerprint
        }
        return found
    }

    @Test("Set up does not mean unlocked, and a locked vault says that it is locked")
    func locked() throws {
        try scene.create("A.cbz").lock()
        let vault = try scene.locked()
        #expect(!vault.isUnlocked)
        do {
            _ = try vault.list()
            Issue.record("a locked vault was read")
        } catch VaultError.locked {}
        do {
            _ = try SealedVault(at: scene.path.appending("nowhere"), host: scene.host())
            Issue.record("a vault that is not there was opened")
        } catch VaultError.notAVault {}
    }

    @Test("A damaged manifest is not a wrong password, and vice versa")
    func manifestAndPassword() throws {
        try scene.create("A.cbz").lock()
        let path = scene.vault.appending("manifest/snap-1")
        var bytes = try Descriptor(path).readAll()
        bytes[1000] ^= 1
        try Durable.replaceOwn(path, with: bytes)
        for (credential, expected) in [("first", "damaged snapshot"), ("wrong", "incorrect password")] {
            #expect(try Examination(scene, credential).gate == expected)
            #expect(throws: VaultError.self) { try scene.open(credential) }
        }
    }

    @Test("Reading a comic and its pages leaves no files anywhere")
    func reading() throws {
        let vault = try scene.create("A.cbz")
        let before = try everything()
        let id = try #require(try vault.comic(named: "A.cbz")).id
        let reader = try vault.open(.archive, of: id)
        for offset in stride(from: Int64(0), to: reader.length, by: 10_000) {
            _ = try reader.read(at: offset, count: 99)
        }
        _ = try reader.verify()
        #expect(try everything() == before)
    }

    @Test("The folder is all there is: another machine opens it with the password")
    func another() throws {
        try scene.create("A.cbz").lock()
        let vault = try SealedVault(at: scene.vault, host: scene.host("another machine"))
        let report = try vault.unlock(StoreScene.credential())
        #expect(report.isNewlyPinned && report.freshness == .firstUse)
        try scene.expect(["A.cbz"], in: vault)
    }

    @Test("Adding leaves the source unchanged, for the caller to dispose of")
    func source() throws {
        let vault = try scene.create()
        let comic = try scene.comic("A.cbz")
        let source = comic.archive.path
        let before = try #require(try FileStatus.of(source)).fingerprint
        _ = try vault.add(comic)
        #expect(try FileStatus.of(source)?.fingerprint == before)
    }

    @Test("Changing a password rewrites one slot and touches no other file")
    func password() throws {
        try scene.create("A.cbz", "B.cbz").lock()
        let before = try everything()
        let slot = try scene.locked().change(StoreScene.credential(), to: StoreScene.credential("new"))
        let after = try everything()
        #expect(after.keys.sorted() == before.keys.sorted())
        let changed = after.filter { before[$0.key] != $0.value }.map(\.key)
        #expect(changed == [BytePath("vault").appending(VaultLayout.slot(slot.description))])
    }
}
