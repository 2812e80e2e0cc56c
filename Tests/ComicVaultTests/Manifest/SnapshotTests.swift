import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("The snapshot on disk") struct SnapshotTests {
    let scene: ManifestScene

    init() throws { scene = try ManifestScene() }

    /// A vault whose snapshot holds comics, a tombstone, progress and bookmarks.
    private func consolidated() throws -> Manifest {
        let manifest = try scene.create()
        let entries = try ["A.cbz", "B.cbz", "C.cbz"].map { try Sample.entry(BytePath($0), key: $0) }
        for entry in entries { try manifest.append(.added(entry)) }
        let time = Timestamp(nanoseconds: 5)
        try manifest.append(.progress(entries[0].id, ReadingProgress(page: 4, isFinished: false, time: time)))
        try manifest.append(.bookmarked(entries[1].id, Bookmark(page: 2, note: "here", time: time)))
        try manifest.append(.removed(entries[2].id, objects: entries[2].objects.map(\.id), time))
        try manifest.append(.renamed(entries[0].id, "Z.cbz"))
        try manifest.consolidate()
        return manifest
    }

    @Test("A new vault is one snapshot and one log") func newVaultSnapshot() throws {
        let manifest = try scene.create()
        #expect(try scene.names() == ["log-1-0", "snap-1"])
        #expect(manifest.head.seq == 1)
        #expect(try scene.host().mark()?.head == manifest.head)
        #expect(throws: Fault.self) { try scene.create() }
    }

    @Test("Consolidation keeps everything and removes the old files") func consolidationKeepsEverything() throws {
        let manifest = try consolidated()
        #expect(try scene.names() == ["log-2-0", "snap-2"])
        let again = try scene.reopen()
        #expect(again.state == manifest.state)
        #expect(again.head == manifest.head)
        #expect(again.state.tombstones.count == 2)
        #expect(again.freshness == .known)
    }

    @Test("Many generations keep every head and tombstone") func manyGenerationsKeep() throws {
        let manifest = try consolidated()
        for _ in 0..<5 { try manifest.consolidate() }
        let content = try Snapshot.read(scene.folder, gen: 7, keys: scene.keys).0
        #expect(content.heads.map(\.gen) == [1, 2, 3, 4, 5, 6])
        #expect(content.state.tombstones.count == 2)
    }

    @Test("A flipped bit anywhere is detected") func flippedBitSeen() throws {
        let manifest = try consolidated()
        let bytes = try scene.bytes("snap-2")
        var generator = SeededGenerator(for: "aFlippedBitIsSeenWhereverItIs")
        let header = 0..<(ObjectSize.header * 8)
        let bits =
            Array(header) + Thoroughness.sample(header.upperBound..<(bytes.count * 8), 1500, &generator)
        for bit in bits {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            try scene.replace("snap-2", flipped)
            let damage = try scene.damage()
            guard case .snapshot(gen: 2, _) = damage else {
                Issue.record("bit \(bit): \(String(describing: damage))")
                continue
            }
        }
        try scene.replace("snap-2", bytes)
        #expect(try scene.open().state == manifest.state)
    }

    @Test("Every truncation is detected") func everyTruncationSeen() throws {
        _ = try consolidated()
        let bytes = try scene.bytes("snap-2")
        var generator = SeededGenerator(for: "everyTruncationIsSeen")
        let lengths =
            [0, 1, 255, 256, 257, 271, 272, bytes.count - 1] + Thoroughness.sample(300..<bytes.count, 600, &generator)
        for length in lengths {
            try scene.replace("snap-2", Array(bytes[..<length]))
            guard case .snapshot(gen: 2, _) = try scene.damage() else {
                Issue.record("not seen at \(length)")
                continue
            }
        }
        try scene.replace("snap-2", bytes + [0])
        guard case .snapshot(gen: 2, _) = try scene.damage() else { throw TestFailure("an added byte is not seen") }
    }

    @Test("A bad newest snapshot never leads to an older one being used") func badNewestSnapshot() throws {
        let manifest = try scene.create()
        try manifest.append(.added(try Sample.entry("A.cbz")))
        let old = try scene.copy(of: scene.names())
        try manifest.consolidate()
        for (name, bytes) in old { try scene.replace(name, bytes) }
        var bytes = try scene.bytes("snap-2")
        bytes[5000] ^= 1
        try scene.replace("snap-2", bytes)
        guard case .snapshot(gen: 2, _) = try scene.damage() else { throw TestFailure("an older snapshot was taken") }
    }

    @Test("A snapshot of another generation, vault or kind is rejected") func snapshotAnotherGeneration() throws {
        let manifest = try scene.create()
        let first = try scene.bytes("snap-1")
        try manifest.consolidate()
        try scene.replace("snap-2", first)
        guard case .snapshot(gen: 2, _) = try scene.damage() else { throw TestFailure("taken for another generation") }

        let other = try ManifestScene()
        _ = try other.create()
        try scene.replace("snap-2", try other.bytes("snap-1"))
        guard case .snapshot(gen: 2, _) = try scene.damage() else { throw TestFailure("taken from another vault") }
    }

    @Test("A missing manifest is not an empty vault") func missingManifestEmpty() throws {
        _ = try consolidated()
        for name in try scene.names() { try Durable.remove(scene.path(name)) }
        #expect(throws: VaultError.self) { try scene.open() }
        do {
            _ = try scene.open()
        } catch VaultError.manifestMissing {}
        try scene.folder.makeDirectory("elsewhere")
        #expect(try scene.folder.renameNew(VaultLayout.manifest, to: "elsewhere/manifest"))
        do {
            _ = try scene.open()
        } catch VaultError.manifestMissing {}
    }

    @Test("Logs without their snapshot are damage") func logsWithoutSnapshot() throws {
        _ = try consolidated()
        try Durable.remove(scene.path("snap-2"))
        #expect(try scene.damage() == .snapshotMissing(gen: 2))
    }

    @Test("A name that no vault uses is damage") func nameVaultMakes() throws {
        _ = try consolidated()
        for name in ["log-2-0.sync-conflict-1", "snap-02", "log-2-00", "snap-", "snap-3.tmp", "log-2"] {
            try scene.replace(name, [])
            #expect(try scene.damage() == .strangeFile(BytePath(name)))
            try Durable.remove(scene.path(name))
        }
    }
}
