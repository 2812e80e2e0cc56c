import ComicTestSupport
import ComicVault
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// `steward vault verify` on damaged vaults.
@Suite("Verifying a vault")
struct VaultVerifyTests {
    /// A vault with two slots, a comic and a deposit.
    private func scene() throws -> VaultScene {
        let scene = try VaultScene()
        try scene.deposit("A.cbz")
        try scene.vault("quarantine", "take-in").check()
        try scene.vault("slots", "add", new: "second").check()
        try scene.deposit("B.cbz", first: 5)
        #expect(try verify(scene).check().output.contains("no problems"))
        return scene
    }

    private func verify(_ scene: VaultScene) throws -> AgentFixture.Result { try scene.vault("verify") }

    /// Every name and byte of the vault, and of this host's record of it.
    private func everything(_ scene: VaultScene) throws -> String {
        let script =
            "find \(scene.path.text) \(scene.host.text) -printf '%p %i %m %T@\\n' -type f -exec sha256sum {} + | sort"
        return try scene.steward.shell(["sh", "-c", script]).check().output
    }

    /// Applies `damage`, expects it to be found without any change, and reverts it.
    private func expect(_ words: String, _ scene: VaultScene, after damage: () throws -> Void) throws {
        let steward = scene.steward
        let kept = scene.path.text + ".kept"
        try steward.shell(["cp", "-a", scene.path.text, kept]).check()
        try damage()
        let before = try everything(scene)
        let found = try verify(scene)
        #expect(found.status == 2 && found.output.contains(words), "\(words): \(found.output) \(found.errors)")
        #expect(!found.output.contains("no problems"))
        #expect(try everything(scene) == before)
        try steward.shell(["rm", "-r", scene.path.text]).check()
        try steward.shell(["mv", kept, scene.path.text]).check()
    }

    private func only(_ folder: BytePath, where isWanted: (String) -> Bool = { _ in true }) throws -> BytePath {
        let names = try listDirectory(folder).map { BytePath(bytes: $0.name) }.filter { isWanted($0.text) }
        return folder.appending(try #require(names.sorted().last))
    }

    private func flip(_ path: BytePath, at place: Int) throws {
        var bytes = try Descriptor(path).readAll()
        bytes[place < 0 ? bytes.count + place : place] ^= 1
        try Durable.replaceOwn(path, with: bytes)
    }

    @Test("Damage to deposits, slots and the public key, and foreign objects are found, and not a byte is changed")
    func parts() throws {
        let scene = try scene()
        let vault = scene.path
        let drop = try only(vault.appending("drop"))
        try expect("the deposit \(drop.nameText)", scene) { try flip(drop, at: -40) }
        try expect("differs from what this host made", scene) { try flip(drop, at: 150) }
        try expect("of this host is gone", scene) { try Durable.remove(drop) }
        let slots = try scene.vault("slots").check().output
        // The last of the sealed bytes: only the password could reveal that the slot no longer opens.
        for slot in try listDirectory(vault.appending("keys")).map({ BytePath(bytes: $0.name) }) {
            #expect(slots.contains(slot.text.prefix(32)))
        }
        let second = try only(vault.appending("keys"))
        try expectSlot(second, scene)
        try expect("vault.pub does not contain", scene) { try flip(vault.appending("vault.pub"), at: 3) }
        try expect("no comic uses the object", scene) {
            let own = try only(try only(vault.appending("objects")))
            let fan = vault.appending("objects/ab")
            try scene.steward.shell(["mkdir", "-p", fan.text]).check()
            let name = "ab" + String(repeating: "0", count: 30)
            try scene.steward.shell(["cp", own.text, fan.appending(name).text]).check()
        }
        try expect("was not made by the vault", scene) {
            try scene.steward.shell(["cp", drop.text, vault.appending("drop/copy").text]).check()
        }
        #expect(try verify(scene).check().output.contains("no problems"))
    }

    /// One of the two password slots opens, whichever it is; the other is damaged in a way that does not show.
    private func expectSlot(_ slot: BytePath, _ scene: VaultScene) throws {
        let kept = try Descriptor(slot).readAll()
        try flip(slot, at: -1)
        let before = try everything(scene)
        let results = try [VaultScene.password, "second"].map { try scene.vault("verify", password: $0) }
        #expect(results.contains { $0.status == 2 && $0.output.contains("the key slot") }, "\(results)")
        #expect(try everything(scene) == before)
        try Durable.replaceOwn(slot, with: kept)
    }

    @Test("An older copy of the vault and a log cut at a record boundary are found, also by the agent")
    func older() async throws {
        let scene = try scene()
        let log = try only(scene.path.appending("manifest")) { $0.hasPrefix("log-") }
        let records = try Descriptor(log).readAll()
        try scene.steward.shell(["cp", "-a", scene.path.text, scene.path.text + ".old"]).check()
        try scene.vault("rename", "A.cbz", "C.cbz").check()
        let newest = try only(scene.path.appending("manifest")) { $0.hasPrefix("log-") }
        try expect("an older copy or another branch", scene) {
            if newest == log { try Durable.replaceOwn(log, with: records) } else { try Durable.remove(newest) }
        }
        try expect("an older copy or another branch", scene) {
            try scene.steward.shell(["rm", "-r", scene.path.text]).check()
            try scene.steward.shell(["cp", "-a", scene.path.text + ".old", scene.path.text]).check()
        }
        try await scene.steward.start()
        try scene.vault("unlock").check()
        try await scene.steward.until("it is taken in") { try scene.names().count == 2 }
        let all = try scene.vault("verify").check()
        #expect(all.output.contains("no problems"))
        let last = try only(scene.path.appending("manifest")) { $0.hasPrefix("log-") }
        try Durable.remove(last)
        let lost = try scene.vault("verify")
        #expect(lost.status == 2 && lost.output.contains("an older copy"), "\(lost.output)\(lost.errors)")
    }

    @Test("Bytes after an earlier log are found by the check, reported at the next unlock, and then removed")
    func junk() throws {
        let scene = try scene()
        let manifest = scene.path.appending("manifest")
        let log = try only(manifest) { $0.hasPrefix("log-") }
        try scene.vault("rename", "A.cbz", "C.cbz").check()
        #expect(try only(manifest) { $0.hasPrefix("log-") } != log)
        try Durable.replaceOwn(log, with: Descriptor(log).readAll() + Array("left here by somebody".utf8))
        let found = try verify(scene)
        #expect(found.status == 2 && found.output.contains("\(log.nameText) ends in unknown bytes"), "\(found)")
        #expect(try scene.vault("list").check().errors.contains("unknown bytes were at the end of"))
        #expect(try scene.vault("list").check().errors.isEmpty)
        #expect(try verify(scene).check().output.contains("no problems"))
    }
}
