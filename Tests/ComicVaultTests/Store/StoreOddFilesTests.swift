import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// Unexpected objects in a vault's folder, in the place of its files or elsewhere.
@Suite("Unexpected files in a vault's folder") struct StoreOddFilesTests {
    let scene: StoreScene

    init() throws { scene = try StoreScene() }

    /// Replaces a file by something that is not one.
    private func replace(_ path: BytePath, byLink: Bool) throws {
        try Durable.remove(path)
        if byLink { #expect(symlink("/dev/null", path.text) == 0) } else { try Durable.makeDirectory(path) }
    }

    @Test("An unexpected object does not keep a check from the others", arguments: [true, false]) func oddObjectKeep(
        isLink: Bool
    ) throws {
        let vault = try scene.create("A.cbz", "B.cbz", "C.cbz")
        let odd = try scene.objectPath(.archive, of: "A.cbz", in: vault)
        try replace(odd, byLink: isLink)
        try Durable.remove(scene.objectPath(.archive, of: "C.cbz", in: vault))
        let report = try vault.verify()
        #expect(report.findings.map(\.entry.name) == ["A.cbz", "C.cbz"] && report.objects == 6)
        #expect(report.findings.first?.error.fault.path == odd)
        vault.lock()
        try scene.open().lock()
    }

    @Test("Foreign files do not keep the vault from being unlocked") func fileVaultKeep() throws {
        let vault = try scene.create("A.cbz", "B.cbz")
        let entry = try #require(try vault.comic(named: "A.cbz"))
        let path = try scene.objectPath(.archive, of: "A.cbz", in: vault)
        _ = try vault.remove(entry.id)
        vault.lock()
        for folder in ["vault/tmp/odd", "vault/quarantine/odd"] {
            try Durable.makeDirectory(scene.path.appending(BytePath(folder)))
            #expect(symlink("/dev/null", scene.path.appending(BytePath(folder + " link")).text) == 0)
        }
        // In the place of an object that was permanently removed.
        try Durable.makeDirectory(path)
        let again = try scene.locked()
        let report = try again.unlock(StoreScene.credential()).recovery
        #expect(report.strange == [VaultLayout.object(try #require(entry.object(.archive)).id)])
        #expect(report.destroyed.isEmpty)
        #expect(try again.list().map(\.name) == ["B.cbz"])
    }

    @Test("The advice for a foreign file in the manifest is to move it away, and to restore nothing")
    func strangeFileManifest() throws {
        try scene.create("A.cbz").lock()
        let strange = scene.vault.appending("manifest/.DS_Store")
        try Durable.replaceOwn(strange, with: [])
        let error = #expect(throws: VaultError.self) { try scene.open() }
        let message = error?.fault.message ?? ""
        #expect(message.contains(".DS_Store") && message.contains("move it out of manifest/"))
        #expect(!message.contains("backup"))
        try Durable.remove(strange)
        try scene.expect(["A.cbz"], in: scene.open())
    }
}
