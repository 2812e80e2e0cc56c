import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// A vault's folder and a host's record of it for one test, with keys but without slots or objects.
final class ManifestScene: Sendable {
    let home: TemporaryFolder
    let folder: SealedVaultFolder
    let keys: VaultKeys

    init() throws {
        home = try TemporaryFolder("steward-vault")
        try Durable.makeDirectory(home.path.appending("vault"), mode: 0o700)
        folder = try SealedVaultFolder(home.path.appending("vault"))
        for name in VaultLayout.folders { try folder.makeDirectory(name) }
        keys = try VaultKeys(master: .random(32), id: .random())
    }

    func host() throws -> HostState { try HostState(home.path.appending("host")) }

    func create() throws -> Manifest { try Manifest.create(folder, keys: keys, host: host()) }

    func open(dropsTornTail: Bool = false) throws -> Manifest {
        try Manifest(folder, keys: keys, host: host(), dropsTornTail: dropsTornTail)
    }

    /// Opens it as the next run of the agent does.
    func reopen() throws -> Manifest {
        let manifest = try open()
        try manifest.reconcile()
        return manifest
    }

    func path(_ name: String) -> BytePath { folder.full(VaultLayout.manifest).appending(name) }

    func bytes(_ name: String) throws -> [UInt8] { try Descriptor(path(name)).readAll() }

    func replace(_ name: String, _ bytes: [UInt8]) throws {
        // Files written once are read-only, also for their owner.
        if try FileStatus.of(path(name)) != nil { try Durable.remove(path(name)) }
        let file = try Descriptor(path(name), O_WRONLY | O_CREAT | O_TRUNC)
        try file.write(bytes, at: 0)
    }

    func names() throws -> [String] { try folder.names(in: VaultLayout.manifest).map(\.text) }

    func copy(of manifest: [String]) throws -> [(String, [UInt8])] { try manifest.map { ($0, try bytes($0)) } }

    /// Restores the manifest's folder.
    func restore(_ copy: [(String, [UInt8])]) throws {
        for name in try names() { try Durable.remove(path(name)) }
        for (name, bytes) in copy { try replace(name, bytes) }
    }

    /// The manifest's damage, if any.
    func damage(dropsTornTail: Bool = false) throws -> ManifestDamage? {
        do {
            _ = try open(dropsTornTail: dropsTornTail)
            return nil
        } catch VaultError.manifestCorrupted(let damage) {
            return damage
        }
    }
}

/// Made-up entries and records.
enum Sample {
    static func entry(_ name: BytePath, key: String = "") throws -> ComicEntry {
        ComicEntry(
            id: try .random(), name: name, objects: [try object(.archive), try object(.metadata)],
            summary: ComicSummary(title: "Title of \(name)", series: "Series", number: "3", pages: 24, format: "zip"),
            duplicateTag: try SecureRandom.bytes(32), source: "inbox", key: Array(key.utf8),
            added: Timestamp(nanoseconds: 1_700_000_000_123_456_789))
    }

    static func object(_ kind: ObjectKind) throws -> ObjectReference {
        ObjectReference(
            id: try .random(), kind: kind, length: 12_345, headerMAC: try SecureRandom.bytes(32),
            lastTag: try SecureRandom.bytes(16))
    }

    static func head(_ gen: UInt64, _ seq: UInt64 = 0) throws -> ManifestHead {
        ManifestHead(gen: gen, seq: seq, tag: try SecureRandom.bytes(16))
    }

    /// One of every kind.
    static func records() throws -> [ManifestRecord] {
        let entry = try entry("Amazing Comic 1.cbz", key: "job 1")
        let bare = ComicEntry(
            id: try .random(), name: BytePath(bytes: [0xFF, 0x2E, 0x63]), objects: [try object(.archive)],
            summary: ComicSummary(), duplicateTag: try SecureRandom.bytes(32), source: "", drop: try .random(),
            added: Timestamp(nanoseconds: -1))
        let time = Timestamp(nanoseconds: 77)
        return [
            .follows(log: nil, try head(1)), .follows(log: 3, try head(9, .max)), .added(entry), .added(bare),
            .removed(entry.id, objects: entry.objects.map(\.id), time), .renamed(entry.id, "Ünïcode (1).cbz"),
            .progress(entry.id, ReadingProgress(page: 7, isFinished: true, time: time)), .progress(entry.id, nil),
            .bookmarked(entry.id, Bookmark(page: .max, note: "splash page\n", time: time)),
            .bookmarkRemoved(entry.id, page: 0),
        ]
    }
}
