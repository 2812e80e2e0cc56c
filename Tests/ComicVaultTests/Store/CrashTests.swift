import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// The operation on a vault of two comics, A.cbz and B.cbz, during which the process dies.
enum CrashSample: String, CaseIterable, CustomTestStringConvertible {
    case add, remove, rename, consolidate, changePassword, addSlot, deposit, ingest, adopt, acceptRollback, rekey

    var testDescription: String { rawValue }

    /// The state before it begins.
    func prepare(_ scene: StoreScene) throws {
        let vault = try scene.create()
        // A comic has two objects if the operation acts on each of them; otherwise one is enough.
        for name in ["A.cbz", "B.cbz"] {
            _ = try vault.add(scene.comic(name, hasParts: self == .remove && name == "A.cbz"))
        }
        switch self {
        case .ingest: _ = try scene.deposit("C.cbz")
        case .adopt:
            let content = ObjectContent(StoreScene.archive("C.cbz"))
            _ = try StoreScene.orphan(content, in: vault)
        case .acceptRollback:
            try scene.copy("vault", to: "older")
            let id = try #require(try vault.comic(named: "A.cbz")).id
            _ = try vault.rename(id, to: "Lost.cbz")
            vault.lock()
            try scene.remove("vault")
            try scene.copy("older", to: "vault")
        default: break
        }
        vault.lock()
    }

    /// Performs it, or the rest of it; repeating it changes nothing.
    func perform(_ scene: StoreScene) throws {
        switch self {
        case .deposit:
            _ = try scene.deposit("C.cbz")
            return
        case .changePassword:
            try change(scene)
            return
        case .rekey:
            try rekey(scene)
            return
        default: break
        }
        let vault = try scene.open()
        switch self {
        case .add: _ = try scene.add("C.cbz", to: vault)
        case .remove: if let entry = try vault.comic(named: "A.cbz") { _ = try vault.remove(entry.id) }
        case .rename: if let entry = try vault.comic(named: "A.cbz") { _ = try vault.rename(entry.id, to: "C.cbz") }
        case .consolidate: try vault.consolidate()
        case .addSlot: _ = try vault.addSlot(StoreScene.credential("new"))
        case .ingest: try scene.ingestAll(vault)
        case .adopt: for object in try vault.quarantine() { _ = try vault.adopt(object.id, as: "C.cbz") }
        case .acceptRollback: _ = try vault.acceptRollback()
        default: break
        }
        vault.lock()
    }

    private func rekey(_ scene: StoreScene) throws {
        do {
            try SealedVault.rekey(
                at: scene.vault, host: scene.host(), old: StoreScene.credential(), new: [StoreScene.credential("new")])
        } catch VaultError.incorrectPassword {
            // Unlocking has finished it.
            try scene.open("new").lock()
        }
    }

    private func change(_ scene: StoreScene) throws {
        do {
            _ = try scene.locked().change(StoreScene.credential(), to: StoreScene.credential("new"))
        } catch VaultError.incorrectPassword {
            // It was changed before.
            try scene.open("new").lock()
        }
    }

    /// One of these opens the vault, wherever the process died.
    var credentials: [String] {
        switch self {
        case .changePassword, .rekey: ["first", "new"]
        default: ["first"]
        }
    }

    /// The possible states after the kill, before anything is repeated.
    var interim: [[String]] {
        switch self {
        case .add, .ingest, .adopt: [["A.cbz", "B.cbz"], finished]
        case .remove, .rename: [["A.cbz", "B.cbz"], finished]
        default: [finished]
        }
    }

    var finished: [String] {
        switch self {
        case .add, .ingest, .adopt: ["A.cbz", "B.cbz", "C.cbz"]
        case .remove: ["B.cbz"]
        case .rename: ["B.cbz", "C.cbz"]
        default: ["A.cbz", "B.cbz"]
        }
    }
}

/// A vault's process is killed between any two of its system calls, and the next one opens the vault.
@Suite("Killing a vault's process") struct CrashTests {
    @Test("Wherever it is killed, no comic is lost and none is duplicated", arguments: CrashSample.allCases)
    func whereverKilledComic(_ sample: CrashSample) async throws {
        let before = try StoreScene.inMemory()
        try sample.prepare(before)
        let points = try await CrashKilling.points(sample, in: before.copied())
        #expect(points > 0)
        let scenes = try (1...max(1, points)).map { (scene: try before.copied(), point: $0) }
        try await CrashKilling.kill(sample, in: scenes)
        for (scene, point) in scenes {
            let comment: Comment = "\(sample) killed at point \(point) of \(points)"
            try expectInterim(sample, scene, comment)
            try sample.perform(scene)
            try expectFinished(sample, scene, comment)
        }
    }

    private func expectInterim(_ sample: CrashSample, _ scene: StoreScene, _ comment: Comment) throws {
        let vault = try open(sample, scene, comment)
        if case .rolledBack = try vault.freshness() {
            #expect(sample == .acceptRollback, comment)
            return
        }
        let names = try vault.list().map(\.name.text)
        #expect(sample.interim.contains(names), comment)
        try scene.expect(names, in: vault, comment)
        vault.lock()
    }

    private func expectFinished(_ sample: CrashSample, _ scene: StoreScene, _ comment: Comment) throws {
        let vault = try open(sample, scene, comment)
        if sample == .deposit {
            // Wherever it died, the deposits are this host's; one more never hurts.
            try scene.ingestAll(vault)
            try scene.expect(["A.cbz", "B.cbz", "C.cbz"], in: vault, comment)
        } else {
            try scene.expect(sample.finished, in: vault, comment)
        }
        #expect(try vault.quarantine().isEmpty, comment)
        #expect(try scene.files("vault/drop").isEmpty, comment)
        #expect(try vault.drops().missing.isEmpty, comment)
        // One generation is left: the consolidated ones are gone.
        #expect(try scene.files("vault/manifest").filter { $0.text.hasPrefix("snap") }.count == 1, comment)
        #expect(try FileStatus.of(scene.path.appending("vault.rekey")) == nil, comment)
        #expect(try scene.host().pins().count == 1, comment)
        vault.lock()
        // The killed processes have left nothing behind.
        let beside = try scene.files("").map(\.text).filter { $0.hasPrefix("vault") || $0.hasPrefix("host") }
        #expect(beside == ["host", "vault"], comment)
        for folder in ["host", "host/deposits", "host/sealing"] {
            guard try FileStatus.of(scene.path.appending(BytePath(folder))) != nil else { continue }
            let names = try scene.files(BytePath(folder)).map(\.text)
            #expect(!names.contains { $0.hasPrefix(".") || $0 == "making" || $0 == "rekey" }, "\(names), \(comment)")
        }
    }

    private func open(_ sample: CrashSample, _ scene: StoreScene, _ comment: Comment) throws -> SealedVault {
        for credential in sample.credentials {
            do {
                return try scene.open(credential)
            } catch VaultError.incorrectPassword {
                continue
            }
        }
        throw TestFailure("no credential opens the vault: \(comment)")
    }
}
