import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// A vault that is not modified but reverted: all of it, a file of it, a record of it.
@Suite("Replaying older parts of a vault")
struct VaultReplayTests {
    private let scene: StoreScene

    init() throws { scene = try StoreScene() }

    /// The vault's files after each step of a short life.
    private func life() throws -> [[BytePath: [UInt8]]] {
        var states: [[BytePath: [UInt8]]] = []
        func step(_ body: (SealedVault) throws -> Void) throws {
            let vault = states.isEmpty ? try scene.create() : try scene.open()
            try body(vault)
            vault.lock()
            states.append(try files())
        }
        func id(_ name: BytePath, _ vault: SealedVault) throws -> ComicID {
            try #require(try vault.comic(named: name)).id
        }
        try step { _ in }
        try step { _ = try scene.add("A.cbz", to: $0) }
        try step { _ = try scene.add("B.cbz", to: $0) }
        try step { _ = try $0.rename(id("B.cbz", $0), to: "C.cbz") }
        try step { _ = try $0.remove(id("A.cbz", $0)) }
        try step { _ = try scene.add("D.cbz", to: $0) }
        try step { vault in
            try vault.setProgress(nil, of: id("C.cbz", vault))
            // Its log grows further: an older copy of that file alone is in the folder's history.
            states.append(try files())
            try vault.setProgress(nil, of: id("D.cbz", vault))
        }
        return states
    }

    private func files() throws -> [BytePath: [UInt8]] {
        var files: [BytePath: [UInt8]] = [:]
        for path in try TamperingScene.files(in: scene.path, "vault") {
            files[path] = try Descriptor(scene.path.appending(path)).readAll()
        }
        return files
    }

    private func restore(_ files: [BytePath: [UInt8]]) throws {
        for path in try TamperingScene.files(in: scene.path, "vault") where files[path] == nil {
            try Durable.remove(scene.path.appending(path))
        }
        for (path, bytes) in files {
            let full = scene.path.appending(path)
            try Durable.makeDirectory(full.parent)
            if try FileStatus.of(full) != nil { try Durable.remove(full) }
            try TamperingScene.write(bytes, full)
        }
    }

    @Test("An older copy of the whole vault, from any time, is read but not written")
    func wholeVault() throws {
        let states = try life()
        let newest = try Examination(scene)
        #expect(newest.gate.isEmpty && newest.comics.keys.sorted() == ["C.cbz", "D.cbz"])
        for (index, state) in states.dropLast().enumerated() {
            try restore(state)
            #expect(try Examination(scene).gate == "rolled back", "state \(index)")
            let vault = try scene.open()
            #expect(throws: VaultError.self, "state \(index)") { try scene.add("X.cbz", to: vault) }
            #expect(throws: VaultError.self, "state \(index)") { try vault.consolidate() }
            if let first = try vault.list().first {
                #expect(throws: VaultError.self, "state \(index)") { try vault.remove(first.id) }
                #expect(throws: VaultError.self, "state \(index)") { try vault.rename(first.id, to: "X.cbz") }
            }
            vault.lock()
            // None of its bytes were changed by that.
            #expect(try files() == state, "state \(index)")
        }
        try restore(states[states.count - 1])
        #expect(try Examination(scene) == newest)
    }

    @Test("An older copy of any single file, replacing the newest or beside it")
    func singleFiles() throws {
        let states = try life()
        let newest = states[states.count - 1]
        let sound = try Examination(scene)
        var seen = 0
        for state in states.dropLast() {
            for (path, bytes) in state where newest[path] != bytes {
                seen += 1
                try restore(newest)
                try Durable.makeDirectory(scene.path.appending(path).parent)
                try TamperingScene.write(bytes, scene.path.appending(path))
                let found = try Examination(scene)
                #expect(found.comics.allSatisfy { sound.comics[$0.key] == $0.value }, "\(path)")
                if path.text.hasPrefix("vault/objects") {
                    // Belongs to a removed comic: it does not become a comic again, and unlocking destroys it.
                    #expect(found.strange == [path.nameText])
                    let vault = try scene.locked()
                    let report = try vault.unlock(StoreScene.credential()).recovery
                    vault.lock()
                    #expect(report.destroyed.map(\.description) == [path.nameText])
                    #expect(try files() == newest)
                } else if newest[path] != nil {
                    #expect(["rolled back", "damaged record"].contains(found.gate), "\(path): \(found.gate)")
                } else {
                    // From a past generation: either the remains of an interrupted consolidation, or a fork.
                    #expect(["", "fork"].contains(found.gate), "\(path): \(found.gate)")
                    if found.gate.isEmpty { #expect(found == sound) }
                }
            }
        }
        #expect(seen > 10)
    }

    @Test("An older slot opens with the old password again: only a rekey takes it from someone who has both")
    func slot() throws {
        try scene.create("A.cbz").lock()
        let before = try files()
        let slot = try scene.locked().change(StoreScene.credential(), to: StoreScene.credential("new"))
        #expect(try Examination(scene).gate == "incorrect password")
        let path = BytePath("vault").appending(VaultLayout.slot(slot.description))
        try TamperingScene.write(try #require(before[path]), scene.path.appending(path))
        #expect(try Examination(scene).gate.isEmpty)
        #expect(try Examination(scene, "new").gate == "incorrect password")
        try SealedVault.rekey(
            at: scene.vault, host: scene.host(), old: StoreScene.credential(), new: [StoreScene.credential("newer")])
        // Under the old slot's name and under the new one's.
        for target in try [path] + scene.files("vault/keys").map({ BytePath("vault/keys").appending($0) }) {
            try TamperingScene.write(try #require(before[path]), scene.path.appending(target))
            #expect(["wrong vault", "damaged slot"].contains(try Examination(scene).gate))
        }
    }

    @Test("An ingested deposit is not ingested twice, nor again after its comic was removed")
    func deposit() throws {
        try scene.create("A.cbz").lock()
        let drop = try scene.deposit("B.cbz").drop
        let path = scene.vault.appending(VaultLayout.drop(drop))
        let bytes = try Descriptor(path).readAll()
        let vault = try scene.open()
        try scene.ingestAll(vault)
        try TamperingScene.write(bytes, path)
        guard case .unknown = try #require(try vault.drops().waiting.first).origin else {
            throw TestFailure("a deposit that was taken in waits for being taken in")
        }
        vault.lock()
        let again = try scene.locked()
        #expect(try again.unlock(StoreScene.credential()).recovery.ingested == [drop])
        try scene.expect(["A.cbz", "B.cbz"], in: again)
        _ = try again.remove(try #require(try again.comic(named: "B.cbz")).id)
        try TamperingScene.write(bytes, path)
        again.lock()
        let last = try scene.open()
        guard case .unknown = try #require(try last.drops().waiting.first).origin else {
            throw TestFailure("a removed comic's deposit is taken for a new one")
        }
        #expect(throws: Fault.self) { try last.ingest(drop) { try StoreScene.verdict($0) } }
        try scene.expect(["A.cbz"], in: last)
    }

    @Test("Records removed, swapped, doubled or moved to another log, anywhere")
    func records() throws {
        let vault = try TamperingScene()
        let logs = vault.files(below: "manifest/log")
        let parts = try logs.map { log in
            let bytes = try vault.bytes(log)
            var ends = [LogHeader.size]
            while let end = RecordCipher.end(of: bytes, at: ends[ends.count - 1]) { ends.append(end) }
            return (head: Array(bytes[..<ends[0]]), records: zip(ends, ends.dropFirst()).map { Array(bytes[$0..<$1]) })
        }
        func check(_ log: Int, _ records: [[UInt8]], _ what: String) throws {
            guard records != parts[log].records else { return }
            let found = try vault.with(logs[log], parts[log].head + records.flatMap { $0 }) { try vault.examine() }
            let expected: Set = ["damaged record", "gap", "rolled back", "fork"]
            // One extra record at the end looks like an interrupted write: nothing durable is touched.
            let isLonger = records.starts(with: parts[log].records)
            #expect(
                isLonger ? found == vault.sound : expected.contains(found.gate), "\(logs[log]), \(what): \(found.gate)")
            #expect(found.comics.allSatisfy { vault.sound.comics[$0.key] == $0.value }, "\(logs[log]), \(what)")
        }
        for log in logs.indices {
            let records = parts[log].records
            for one in records.indices {
                var without = records
                without.remove(at: one)
                try check(log, without, "without record \(one)")
                for other in records.indices {
                    var swapped = records
                    swapped.swapAt(one, other)
                    try check(log, swapped, "\(one) and \(other) swapped")
                    try check(
                        log, Array(records[...other]) + [records[one]] + Array(records[(other + 1)...]),
                        "\(one) after \(other)")
                }
                for strange in logs.indices where strange != log {
                    for record in parts[strange].records {
                        try check(
                            log, Array(records[...one]) + [record] + Array(records[(one + 1)...]),
                            "one of log \(strange)")
                        var replaced = records
                        replaced[one] = record
                        try check(log, replaced, "one of log \(strange) for \(one)")
                    }
                }
            }
        }
    }
}
