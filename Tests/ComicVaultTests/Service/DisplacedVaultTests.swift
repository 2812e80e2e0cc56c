import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ComicVault

/// What happens to an unlocked vault whose folder is moved, replaced or unmounted.
@Suite("A vault whose folder was replaced")
struct DisplacedVaultTests {
    enum Way: CaseIterable {
        /// `cp -a vault copy; mv vault vault.old; mv copy vault`
        case replaced
        case moved
        /// `umount -l`
        case unmounted
    }

    private struct NoJudge: DepositJudge {
        func judge(_ deposit: DropContent) throws -> DropVerdict {
            DropVerdict(name: deposit.envelope.name, parts: [], summary: ComicSummary())
        }
    }

    private let scene: StoreScene
    private let locks = LockNotices()

    private final class LockNotices: Sendable {
        private let all = Mutex<[LockReason]>([])
        var reasons: [LockReason] { all.withLock { $0 } }
        func add(_ notice: VaultNotice) {
            if case .locked(let reason) = notice { all.withLock { $0.append(reason) } }
        }
    }

    init() throws { scene = try StoreScene() }

    private func service(hasKey: Bool = false, at path: BytePath? = nil) -> VaultService {
        let locks = locks
        return VaultService(
            VaultPlace(name: "main", path: path ?? scene.vault, host: scene.path.appending("host"), idle: nil),
            judge: NoJudge(), pause: .milliseconds(5), notice: { locks.add($0) },
            key: { hasKey ? try StoreScene.credential() : nil })
    }

    private func comic(_ name: String) throws -> VaultComic {
        let bytes = StoreScene.archive(name)
        let file = scene.path.appending("inbox-\(randomHex(4))")
        try Durable.replaceOwn(file, with: bytes)
        return VaultComic(
            archive: try Descriptor(file), hash: ContentHash(of: bytes), name: BytePath(name), summary: ComicSummary(),
            key: Array(name.utf8))
    }

    private var old: BytePath { scene.path.appending("vault.old") }

    private func run(_ words: String...) throws { try runProgram(words).check() }

    /// Mounts the vault separately at its place, so that it can be unmounted; false if that is not permitted.
    private func mount() throws -> Bool {
        try run("/bin/mv", scene.vault.text, old.text)
        try Durable.makeDirectory(scene.vault)
        return try runProgram(["mount", "--bind", old.text, scene.vault.text]).status == 0
    }

    private func displace(_ way: Way) throws {
        switch way {
        case .replaced:
            try scene.copy("vault", to: "copy")
            try run("/bin/mv", scene.vault.text, old.text)
            try run("/bin/mv", scene.path.appending("copy").text, scene.vault.text)
        case .moved: try run("/bin/mv", scene.vault.text, old.text)
        case .unmounted: try run("umount", "-l", scene.vault.text)
        }
    }

    /// The remaining contents of the vault's former folder.
    private func left() throws -> [BytePath] {
        func walk(_ folder: BytePath) throws -> [BytePath] {
            try listDirectory(folder).flatMap { entry in
                let path = folder.appending(name: entry.name)
                return try entry.isDirectory == true ? walk(path) : [path]
            }.sorted()
        }
        return try walk(old)
    }

    @Test(
        "Nothing more is written to it: the vault is locked, and comics go where the path leads, or wait",
        arguments: Way.allCases)
    func imports(way: Way) async throws {
        try scene.create("A.cbz").lock()
        if way == .unmounted, try !mount() { return }
        defer { if way == .unmounted { umount2(scene.vault.text, 2) } }  // MNT_DETACH
        let service = service()
        try await service.unlock(StoreScene.credential())
        try displace(way)
        let before = try left()
        if way == .replaced {
            guard case .deposited(let deposit) = try await service.importComic(comic("B.cbz")) else {
                throw TestFailure("it was sealed where nobody looks")
            }
            #expect(try scene.files("vault/drop") == [BytePath(deposit.drop.description)])
            #expect(try await service.holds(.deposit(deposit.drop)))
        } else {
            let fault = await #expect(throws: Fault.self) { try await service.importComic(comic("B.cbz")) }
            #expect(fault?.kind == .transient && fault?.code == StandingFolder.displaced, "\(fault?.message ?? "")")
        }
        #expect(try left() == before)
        #expect(await !service.isUnlocked)
        #expect(await service.displacedSince != nil)
        #expect(locks.reasons == [.displaced])
        if way == .unmounted { return }
        // The opened vault is intact, and unlocked for others.
        let other = try SealedVault(at: old, host: scene.host())
        try other.unlock(StoreScene.credential())
        #expect(try other.list().map(\.name.text) == ["A.cbz"])
        other.lock()
    }

    @Test("A write in progress when it is moved does not count, and leaves nothing behind")
    func inTheMidst() throws {
        let vault = try scene.create("A.cbz")
        let bytes = StoreScene.archive("B.cbz")
        let content = ObjectContent(
            streamOf: "B.cbz", length: Int64(bytes.count), identity: ContentHash(of: bytes),
            hash: ContentHash(of: bytes)
        ) { buffer, offset in
            if offset == 0 { try displace(.replaced) }
            let part = bytes.dropFirst(Int(offset)).prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
        let fault = #expect(throws: Fault.self) {
            try vault.add(NewComic(name: "B.cbz", archive: content, hash: ContentHash(of: bytes)))
        }
        #expect(fault?.code == StandingFolder.displaced)
        let changes: [() throws -> Void] = [
            { _ = try vault.add(scene.comic("C.cbz")) }, { try vault.consolidate() },
            { _ = try vault.remove(try #require(try vault.list().first).id) },
            { _ = try vault.rename(try #require(try vault.list().first).id, to: "D.cbz") },
            { _ = try vault.addSlot(StoreScene.credential("second")) },
        ]
        for change in changes {
            let fault = #expect(throws: Fault.self) { try change() }
            #expect(fault?.code == StandingFolder.displaced)
        }
        vault.lock()
        #expect(try scene.files("vault.old/tmp").isEmpty)
        for place in [old, scene.vault] {
            let other = try SealedVault(at: place, host: scene.host())
            try other.unlock(StoreScene.credential())
            #expect(try other.list().map(\.name.text) == ["A.cbz"] && other.verify().findings.isEmpty)
            other.lock()
        }
    }

    @Test("A vault that returns is unlocked automatically if its key is available", arguments: [Way.moved, .unmounted])
    func comesBack(way: Way) async throws {
        try scene.create("A.cbz").lock()
        if way == .unmounted, try !mount() { return }
        defer { if way == .unmounted { umount2(scene.vault.text, 2) } }  // MNT_DETACH
        let service = service(hasKey: true)
        try await service.unlockWithKeyAtHand()
        try displace(way)
        await #expect(throws: Fault.self) { try await service.importComic(comic("B.cbz")) }
        if way == .unmounted { #expect(try mountAgain()) } else { try run("/bin/mv", old.text, scene.vault.text) }
        try await waitUntil("it is unlocked") { await service.isUnlocked }
        #expect(await service.displacedSince == nil)
        guard case .sealed(.added(let entry)) = try await service.importComic(comic("B.cbz")) else {
            throw TestFailure("it was deposited")
        }
        #expect(try await service.use { try $0.list().map(\.name.text) } == ["A.cbz", "B.cbz"])
        let archive = try #require(entry.object(.archive))
        #expect(try await service.holds(.object(archive.id)))
        await service.lock(.stop)
    }

    private func mountAgain() throws -> Bool {
        try runProgram(["mount", "--bind", old.text, scene.vault.text]).status == 0
    }

    @Test("An agent that starts before its vault's disk is mounted unlocks it afterwards")
    func startsBefore() async throws {
        try scene.create("A.cbz").lock()
        try displace(.moved)
        let service = service(hasKey: true)
        do {
            try await service.unlockWithKeyAtHand()
            Issue.record("it was unlocked")
        } catch VaultError.away {}
        try run("/bin/mv", old.text, scene.vault.text)
        try await waitUntil("it is unlocked") { await service.isUnlocked }
        await service.lock(.stop)
        // Locking it means that it should not stay unlocked.
        try displace(.moved)
        do { try await service.unlockWithKeyAtHand() } catch VaultError.away {}
        await service.lock(.asked)
        try run("/bin/mv", old.text, scene.vault.text)
        try scene.open().lock()
        #expect(await !service.isUnlocked)
    }

    enum Notice: CaseIterable {
        /// An import fails.
        case work
        /// Somebody asks for the vault's status.
        case status
    }

    @Test(
        "A disk with errors ends the session, which keeps nothing open; the vault is used again when it returns",
        .enabled(if: geteuid() == 0, "only root may mount a disk"), arguments: Notice.allCases)
    func deadDisk(notice: Notice) async throws {
        let (disk, image) = (scene.path.appending("disk"), scene.path.appending("image"))
        try Durable.makeDirectory(disk)
        try run("truncate", "-s", "32M", image.text)
        guard try runProgram(["mkfs.ext4", "-q", "-F", image.text]).status == 0,
            try runProgram(["mount", "-o", "loop", image.text, disk.text]).status == 0
        else { try Test.cancel("no disk can be made and mounted here") }
        defer { umount2(disk.text, 2) }  // MNT_DETACH
        try scene.create("A.cbz").lock()
        let path = disk.appending("vault")
        try run("/bin/cp", "-a", scene.vault.text, path.text)
        let service = service(hasKey: true, at: path)
        try await service.unlockWithKeyAtHand()
        guard case .sealed = try await service.importComic(comic("B.cbz")) else { throw TestFailure("it is locked") }

        // EXT4_IOC_SHUTDOWN, without flushing the journal: it stays mounted, and every call fails with EIO.
        func shutDown() throws -> Bool {
            var flags: UInt32 = 2
            return ioctl(try Descriptor(disk, O_RDONLY | O_DIRECTORY).raw, 0x8004_587D, &flags) == 0
        }
        guard try shutDown() else { try Test.cancel("no file system is shut down here") }
        switch notice {
        case .work:
            let fault = await #expect(throws: Fault.self) { try await service.importComic(comic("C.cbz")) }
            #expect(fault?.kind == .transient, "\(fault?.message ?? "it was imported")")
        case .status: try await service.endIfDisplaced()
        }
        #expect(await !service.isUnlocked)
        #expect(await service.displacedSince != nil)
        #expect(locks.reasons == [.displaced])

        try await waitUntil("nothing holds the disk") { try runProgram(["umount", disk.text]).status == 0 }
        try run("mount", "-o", "loop", image.text, disk.text)
        try await waitUntil("it is unlocked") { await service.isUnlocked }
        #expect(await service.displacedSince == nil)
        guard case .sealed(.added) = try await service.importComic(comic("C.cbz")) else {
            throw TestFailure("it was not sealed")
        }
        #expect(try await service.use { try $0.list().map(\.name.text) } == ["A.cbz", "B.cbz", "C.cbz"])
        await service.lock(.stop)
    }
}
