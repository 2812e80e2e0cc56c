import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// A small, locked vault with one of everything: two comics, a removed one, a history of three logs, two slots and a
/// deposit. Its files can be damaged, and inspected without changing or syncing anything.
final class TamperingScene: Sendable {
    let scene: StoreScene
    /// Relative to the scene's folder; only the vault's files.
    let files: [BytePath]
    let drop: ObjectID
    /// Of the intact vault.
    let sound: Examination
    /// The credentials, by slot file.
    let owners: [BytePath: String]

    static let comics = ["A.cbz", "B.cbz"]

    init() throws {
        scene = try StoreScene.inMemory()
        let vault = try scene.create("A.cbz", "C.cbz")
        let first = try #require(try vault.slots().first).id
        let added = try vault.addSlot(StoreScene.credential("second"))
        owners = ["vault/keys/\(first).slot": "first", "vault/keys/\(added).slot": "second"].reduce(into: [:]) {
            $0[BytePath($1.key)] = $1.value
        }
        _ = try vault.remove(try #require(try vault.comic(named: "C.cbz")).id)
        vault.lock()
        let second = try scene.open()
        _ = try scene.add("B.cbz", to: second)
        second.lock()
        let third = try scene.open()
        try third.setProgress(
            ReadingProgress(page: 2, isFinished: false, time: Timestamp(nanoseconds: 1)),
            of: #require(try third.comic(named: "A.cbz")).id)
        try third.addBookmark(
            Bookmark(page: 1, note: "", time: Timestamp(nanoseconds: 1)),
            to: #require(try third.comic(named: "B.cbz")).id)
        third.lock()
        drop = try scene.deposit("D.cbz").drop
        files = try Self.files(in: scene.path, "vault")
        sound = try Examination(scene)
    }

    static func files(in root: BytePath, _ folder: BytePath) throws -> [BytePath] {
        try listDirectory(root.appending(folder)).sorted { $0.name.lexicographicallyPrecedes($1.name) }.flatMap {
            entry in
            let path = folder.appending(name: entry.name)
            return try FileStatus.of(root.appending(path))?.kind == .directory ? files(in: root, path) : [path]
        }
    }

    func files(below folder: String) -> [BytePath] { files.filter { $0.text.hasPrefix("vault/\(folder)") } }

    func bytes(_ file: BytePath) throws -> [UInt8] { try Descriptor(scene.path.appending(file)).readAll() }

    /// Runs with different bytes in a file's place, or without it, and restores it.
    func with<R>(_ file: BytePath, _ bytes: [UInt8]?, _ body: () throws -> R) throws -> R {
        let path = scene.path.appending(file)
        let kept = scene.path.appending("kept-\(randomHex(4))")
        guard rename(path.text, kept.text) == 0 else { throw Fault.system("rename", path) }
        defer { rename(kept.text, path.text) }
        if let bytes { try Self.write(bytes, path) }
        return try body()
    }

    static func write(_ bytes: [UInt8], _ path: BytePath) throws {
        try Descriptor(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600).write(bytes, at: 0)
    }

    /// - Parameter file: if it is a slot, its owner's credential is used.
    func examine(after file: BytePath? = nil) throws -> Examination {
        try Examination(scene, file.flatMap { owners[$0] } ?? "first")
    }
}

/// The results of unlocking the vault, reading every comic and ingesting every deposit, in the words of
/// ``outcome(_:)``.
struct Examination: Equatable {
    /// The obstacle to unlocking; empty if there is none.
    var gate = ""
    var damagedSlots: [String] = []
    var isPublicKeyWrong = false
    /// Which comics can be read to their end, with the hash of the output.
    var comics: [String: ContentHash] = [:]
    /// By the object's file name.
    var objects: [String: String] = [:]
    var drops: [String: String] = [:]
    /// Names that belong to nothing.
    var strange: [String] = []

    init(_ scene: StoreScene, _ credential: String = "first") throws {
        do {
            try look(scene, credential)
        } catch let error as VaultError {
            gate = Self.word(error)
        }
    }

    private mutating func look(_ scene: StoreScene, _ credential: String) throws {
        let host = try scene.host()
        let vault = try scene.locked()
        let slots = KeySlots(vault.folder, vault.description)
        let opened = try slots.open(StoreScene.credential(credential))
        damagedSlots = opened.damaged.map(Self.word)
        let keys = opened.secrets.keys
        isPublicKeyWrong =
            (try? vault.folder.open(VaultLayout.publicKey).read(at: 0, count: 33)) != opened.secrets.keyPair.publicKey
        let manifest = try Manifest(vault.folder, keys: keys, host: host)
        switch manifest.freshness {
        case .known: break
        case .firstUse: gate = "first use"
        case .rolledBack: gate = "rolled back"
        }
        let objects = VaultObjects(vault.folder)
        for comic in manifest.state.comics.values {
            for reference in comic.objects {
                self.objects["\(reference.id)"] = outcome {
                    let hash = try objects.open(reference) {
                        try ObjectReader($0, reference.id, reference.kind, with: .vault(keys))
                    }.verify()
                    if reference.kind == .archive { comics[comic.name.text] = hash }
                }
            }
        }
        let (present, names) = try objects.present()
        strange =
            names.map(\.text) + present.filter { manifest.state.comic(owning: $0) == nil }.map(\.description).sorted()
        let own = try host.deposits()
        let report = try vault.drops()
        strange += report.strange.map(\.text) + report.missing.map { "missing \($0.drop)" }
        for drop in report.waiting {
            drops["\(drop.id)"] = outcome {
                let file = try vault.folder.open(VaultLayout.drop(drop.id))
                let reader = try ObjectReader(file, drop.id, .deposit, with: .keyPair(opened.secrets.keyPair, vault.id))
                _ = try reader.verify()
                guard own[drop.id]?.headerMAC == reader.headerMAC else { throw TestFailure("not this host's") }
            }
        }
    }

    static func word(_ error: VaultError) -> String {
        switch error {
        case .manifestCorrupted(let damage):
            switch damage {
            case .snapshot: "damaged snapshot"
            case .snapshotMissing: "missing snapshot"
            case .gap: "gap"
            case .header: "damaged log header"
            case .record: "damaged record"
            case .fork: "fork"
            case .tornTail: "torn tail"
            case .strangeFile: "strange file"
            case .contradiction: "contradiction"
            }
        case .manifestMissing: "manifest missing"
        case .strangeVault: "strange vault"
        default: outcome(error)
        }
    }
}
