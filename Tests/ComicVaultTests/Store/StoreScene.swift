import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// A vault, a host's record of it and archives to add, for one test. Key files open it, because they take no time.
final class StoreScene: Sendable {
    let home: TemporaryFolder?
    let path: BytePath

    /// - Parameter parent: where its folder is created.
    init(beneath parent: String = NSTemporaryDirectory()) throws {
        let home = try TemporaryFolder("steward-store", beneath: parent)
        self.home = home
        path = home.path
    }

    /// A scene in memory for tests that need no disk, and sync or write a lot: a test that kills at all points syncs
    /// 20,000 times, and a killed process leaves behind what the kernel holds, synced or not. On disk if memory is
    /// short.
    static func inMemory() throws -> StoreScene {
        var space = statvfs()
        let isThere = access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &space) == 0
        // A container may have only 64 MiB, and all points of all samples take some 300.
        let isEnough = isThere && UInt64(space.f_bavail) * UInt64(space.f_frsize) > 1 << 30
        return try StoreScene(beneath: isEnough ? "/dev/shm" : NSTemporaryDirectory())
    }

    /// The same folder seen from another process.
    init(in path: BytePath) {
        home = nil
        self.path = path
    }

    var vault: BytePath { path.appending("vault") }

    func host(_ name: String = "host") throws -> HostState { try HostState(path.appending(name)) }

    /// The same for the same name.
    static func credential(_ name: String = "first") throws -> Credential {
        try .keyFile(SecretBytes(ContentHash(of: Array(name.utf8)).bytes))
    }

    func create(_ names: String...) throws -> SealedVault {
        let vault = try SealedVault.create(at: vault, host: host(), credentials: [Self.credential()])
        for name in names { _ = try add(name, to: vault) }
        return vault
    }

    func locked() throws -> SealedVault { try SealedVault(at: vault, host: host()) }

    func open(_ credential: String = "first") throws -> SealedVault {
        let vault = try locked()
        try vault.unlock(Self.credential(credential))
        return vault
    }

    /// Bytes derived from the name, more than one chunk of them.
    static func archive(_ name: String) -> [UInt8] {
        Array(repeating: Array("archive of \(name). ".utf8), count: 5000).flatMap { $0 }
    }

    /// The arguments for adding the comic of this name; the import's key is its name.
    func comic(
        _ name: String, content: String? = nil, key: String? = nil, hasParts: Bool = true
    ) throws -> NewComic {
        let bytes = Self.archive(content ?? name)
        let file = path.appending("inbox-\(randomHex(4))")
        try Durable.replaceOwn(file, with: bytes)
        let hash = ContentHash(of: bytes)
        return NewComic(
            name: BytePath(name), archive: try ObjectContent(Descriptor(file), hash: hash), hash: hash,
            parts: hasParts ? [(.metadata, ObjectContent(Array("metadata of \(name)".utf8)))] : [],
            summary: ComicSummary(title: "Title of \(name)", pages: 3, format: "zip"), source: "inbox",
            key: Array((key ?? name).utf8))
    }

    func add(_ name: String, to vault: SealedVault) throws -> AddOutcome { try vault.add(comic(name)) }

    /// Expects the vault to hold exactly these comics, intact.
    func expect(_ names: [String], in vault: SealedVault, _ comment: Comment? = nil) throws {
        #expect(try vault.list().map(\.name.text) == names.sorted(), comment)
        let report = try vault.verify()
        #expect(report.findings.isEmpty && report.unknown.isEmpty && report.strange.isEmpty, comment)
        #expect(try files("vault/tmp").isEmpty, comment)
    }

    func files(_ relative: BytePath) throws -> [BytePath] {
        try listDirectory(path.appending(relative)).map { BytePath(bytes: $0.name) }.sorted()
    }

    func objectPath(_ kind: ObjectKind, of name: String, in vault: SealedVault) throws -> BytePath {
        let entry = try #require(try vault.comic(named: BytePath(name)))
        return vault.folder.full(VaultLayout.object(try #require(entry.object(kind)).id))
    }

    /// The same vault and host in a separate folder, without the archives from the inbox.
    func copied() throws -> StoreScene {
        let other = try StoreScene(beneath: path.parent.text)
        for name in try files("") where name.text.hasPrefix("inbox-") { try remove(name) }
        try Self.copy(path.appending("."), other.path)
        return other
    }

    /// `cp -a`.
    func copy(_ from: BytePath, to target: BytePath) throws {
        try Self.copy(path.appending(from), path.appending(target))
    }

    private static func copy(_ from: BytePath, _ target: BytePath) throws {
        try runProgram(["/bin/cp", "-a", from.text, target.text]).check()
    }

    func remove(_ relative: BytePath) throws {
        try FileManager.default.removeItem(atPath: path.appending(relative).text)
    }

    /// An object of the vault that no record names, as after a lost record.
    static func orphan(_ content: ObjectContent, in vault: SealedVault) throws -> SealedObject {
        let session = try vault.unlocked()
        let made = try vault.objects.seal(.archive, content, session)
        try vault.objects.name([made], vault.host, session) { _ in ((), isNamed: true) }
        return made.sealed
    }

    /// - Parameters:
    ///   - content: the name whose archive it contains, if different.
    ///   - key: the import's key; by default the name.
    func deposit(
        _ name: String, content: String? = nil, key: String? = nil, duplicates: DuplicatePolicy = .skip,
        host: HostState? = nil
    ) throws -> HostDeposit {
        let bytes = Self.archive(content ?? name)
        let file = path.appending("inbox-\(randomHex(4))")
        try Durable.replaceOwn(file, with: bytes)
        let envelope = DropEnvelope(
            name: BytePath(name), source: "inbox", hash: ContentHash(of: bytes), time: .now(),
            key: Array((key ?? name).utf8), duplicates: duplicates)
        return try VaultDeposit.seal(Descriptor(file), envelope, into: vault, host: host ?? self.host())
    }

    /// A forgery that anyone with the public key can make: an envelope that names an archive other than its own.
    func lyingDeposit(_ name: String, claiming other: String) throws -> ObjectID {
        let pin = try #require(try host().pins().first)
        let envelope = DropEnvelope(
            name: BytePath(name), source: "inbox", hash: ContentHash(of: Self.archive(other)), time: .now(),
            key: Array(name.utf8))
        let temporary = try VaultTemporary(locked().folder)
        let sealed = try ObjectWriter.seal(
            .deposit, ObjectContent(envelope.encoded + Self.archive(name)), for: .publicKey(pin.publicKey, pin.vault),
            into: temporary.file)
        try temporary.become(VaultLayout.drop(sealed.id))
        return sealed.id
    }

    /// Ingests all of this host's deposits.
    func ingestAll(_ vault: SealedVault) throws {
        for drop in try vault.drops().waiting {
            guard case .ownDeposit = drop.origin else { continue }
            _ = try vault.ingest(drop.id) { content in try Self.verdict(content) }
        }
    }

    static func bytes(_ deposit: DropContent) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try deposit.stream { bytes += $0 }
        return bytes
    }

    /// - Parameter of: the name whose archive it must be, if different.
    static func verdict(_ content: DropContent, of name: String? = nil) throws -> DropVerdict {
        guard try bytes(content) == archive(name ?? content.envelope.name.text) else {
            throw Fault(.refused, "this is no comic")
        }
        return DropVerdict(
            name: content.envelope.name, parts: [(.metadata, ObjectContent([1, 2, 3]))], summary: ComicSummary())
    }
}
