import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ComicVault

/// Set once, by one of two tasks running in parallel.
private final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }
}

/// A service's notices, from any thread.
private final class Notices: Sendable {
    private let all = Mutex<[VaultNotice]>([])

    func add(_ notice: VaultNotice) { all.withLock { $0.append(notice) } }

    var locks: [LockReason] {
        all.withLock { $0.compactMap { if case .locked(let reason) = $0 { reason } else { nil } } }
    }

    var ingested: [ObjectID] {
        all.withLock { $0.compactMap { if case .ingested(let id) = $0 { id } else { nil } } }
    }

    var refused: [ObjectID: String] {
        all.withLock { all in
            var found: [ObjectID: String] = [:]
            for case .notIngested(let id, let code) in all { found[id] = code }
            return found
        }
    }

    var refusals: Int { all.withLock { $0.count { if case .notIngested = $0 { true } else { false } } } }

    var missing: Int {
        all.withLock { all in
            var count = 0
            for case .missing(let more) in all { count += more }
            return count
        }
    }
}

/// Accepts what ``StoreScene`` deposits as comics, and nothing else.
private struct SceneJudge: DepositJudge {
    func judge(_ deposit: DropContent) throws -> DropVerdict {
        let envelope = deposit.envelope
        guard try StoreScene.bytes(deposit) == StoreScene.archive(envelope.name.text) else {
            throw Fault(.refused, "\(envelope.name) is no comic", code: "noComic")
        }
        return DropVerdict(name: envelope.name, parts: [], summary: ComicSummary(pages: 3))
    }
}

@Suite("The agent's vault")
struct VaultServiceTests {
    let scene: StoreScene
    private let notices = Notices()

    init() throws { scene = try StoreScene() }

    private func service(idle: Double? = nil) -> VaultService {
        let notices = notices
        let place = VaultPlace(
            name: "main", path: scene.vault, host: scene.path.appending("host"), idle: idle)
        return VaultService(place, judge: SceneJudge()) { notices.add($0) }
    }

    private func names(_ service: VaultService) async throws -> [String] {
        try await service.use { try $0.list().map(\.name.text) }
    }

    private func comic(_ name: String, key: String) throws -> VaultComic {
        let bytes = StoreScene.archive(name)
        let file = scene.path.appending("inbox-\(randomHex(4))")
        try Durable.replaceOwn(file, with: bytes)
        return VaultComic(
            archive: try Descriptor(file), hash: ContentHash(of: bytes), name: BytePath(name), summary: ComicSummary(),
            source: "inbox", key: Array(key.utf8))
    }

    private func isLocked(_ body: () async throws -> Void) async throws -> Bool {
        do {
            try await body()
            return false
        } catch VaultError.locked {
            return true
        }
    }

    // MARK: Locking

    @Test("Works only while unlocked; locking releases the vault to others")
    func unlocksAndLocks() async throws {
        try scene.create("A.cbz").lock()
        let service = service()
        #expect(try await isLocked { _ = try await names(service) })
        #expect(try await service.unlock(StoreScene.credential()) != nil)
        #expect(try await names(service) == ["A.cbz"])
        #expect(await service.unlockedSince != nil)
        // An unlocked vault needs no password, right or wrong.
        #expect(try await service.unlock(StoreScene.credential("wrong")) == nil)
        #expect(throws: VaultError.self) { try scene.open() }
        #expect(await service.lock(.asked))
        #expect(try await isLocked { _ = try await names(service) })
        #expect(await !service.lock(.asked))
        #expect(notices.locks == [.asked])
        try scene.open().lock()
    }

    @Test(
        "Facts about content to be sealed belong to the session: locking discards them")
    func keptFindings() async throws {
        try scene.create("A.cbz").lock()
        let service = service()
        let content = ContentHash(of: [1])
        await service.keep("found while it was locked", of: content)
        try await service.unlock(StoreScene.credential())
        #expect(await service.takeKept(content) == nil)
        await service.keep("found", of: content)
        await service.lock(.asked)
        try await service.unlock(StoreScene.credential())
        #expect(await service.takeKept(content) == nil)
        await service.keep("older", of: content)
        await service.keep("newer", of: content)
        #expect(await service.takeKept(content) as? String == "newer")
        #expect(await service.takeKept(content) == nil)
        for number in 0..<65 { await service.keep(number, of: ContentHash(of: [UInt8(number)])) }
        #expect(await service.takeKept(ContentHash(of: [0])) == nil)
        #expect(await service.takeKept(content) as? Int == 1)
        await service.lock(.stop)
    }

    @Test("A wrong key leaves it locked, and the right one still opens it")
    func wrongKey() async throws {
        try scene.create().lock()
        let service = service()
        do {
            try await service.unlock(StoreScene.credential("wrong"))
            Issue.record("it was unlocked")
        } catch VaultError.incorrectPassword {}
        #expect(await !service.isUnlocked)
        try await service.unlock(StoreScene.credential())
        #expect(await service.isUnlocked)
        await service.lock(.stop)
    }

    @Test("Is locked after a while without use")
    func idleLock() async throws {
        try scene.create().lock()
        let service = service(idle: 0.05)
        try await service.unlock(StoreScene.credential())
        try await waitUntil("it is locked") { await !service.isUnlocked }
        try await waitUntil("that is said") { notices.locks == [.idle] }
        // Unlocked again, it locks again.
        try await service.unlock(StoreScene.credential())
        try await waitUntil("it is locked again") { notices.locks == [.idle, .idle] }
    }

    @Test("Is not locked for idleness during work, however long that takes")
    func workIsUse() async throws {
        try scene.create("A.cbz").lock()
        let service = service(idle: 0.02)
        var wasUnlocked: Bool?
        while wasUnlocked == nil {
            try await service.unlock(StoreScene.credential())
            do {
                wasUnlocked = try await service.use { vault in
                    // Many times the idle limit.
                    for _ in 0..<30 where vault.isUnlocked { usleep(10_000) }
                    return vault.isUnlocked
                }
            } catch VaultError.locked {
                // The machine was so busy that the vault went idle before the work could begin.
                continue
            }
        }
        #expect(wasUnlocked == true)
        try await waitUntil("it is locked") { await !service.isUnlocked }
    }

    @Test("Locking does not wait for work, which then finds the keys gone")
    func lockDuringWork() async throws {
        try scene.create("A.cbz").lock()
        let service = service()
        try await service.unlock(StoreScene.credential())
        let (begun, mayGoOn) = (Flag(), Flag())
        async let work: Bool = service.use { vault in
            begun.set()
            while !mayGoOn.isSet { usleep(1000) }
            do {
                _ = try vault.list()
                return false
            } catch VaultError.locked {
                return true
            }
        }
        try await waitUntil("the work has begun") { begun.isSet }
        #expect(await service.lock(.suspend))
        try scene.open().lock()
        mayGoOn.set()
        #expect(try await work)
        #expect(notices.locks == [.suspend])
    }

    @Test("An unlock overtaken by a lock does not win")
    func overtakenUnlock() async throws {
        let password = try Credential.password(SecretBytes(Array("correct horse".utf8)))
        try SealedVault.create(at: scene.vault, host: scene.host(), credentials: [password]).lock()
        // Deriving the key takes time, in which locks happen; on a busy machine it may take several attempts.
        for _ in 0..<40 {
            let service = service()
            let (isOver, isOvertaken) = (Flag(), Flag())
            async let unlock: Void = {
                do {
                    try await service.unlock(password)
                } catch let fault as Fault where fault.message.contains("was locked while it was unlocked") {
                    isOvertaken.set()
                }
                isOver.set()
            }()
            while !isOver.isSet {
                await service.lock(.asked)
                try await Task.sleep(for: .milliseconds(1))
            }
            try await unlock
            await service.lock(.asked)
            #expect(await !service.isUnlocked)
            try scene.locked().slots().forEach { #expect($0.damage == nil) }
            if isOvertaken.isSet {
                // The lock on the vault has been released as well.
                try await service.unlock(password)
                await service.lock(.asked)
                return
            }
        }
        Issue.record("no lock came in time in 40 attempts")
    }

    @Test("Two concurrent unlocks become one, and the other is told to try again")
    func twoUnlocks() async throws {
        let password = try Credential.password(SecretBytes(Array("correct horse".utf8)))
        try SealedVault.create(at: scene.vault, host: scene.host(), credentials: [password]).lock()
        let service = service()
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do {
                        try await service.unlock(password)
                        return true
                    } catch {
                        return (error as? Fault)?.kind == .transient ? false : true
                    }
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(outcomes.contains(true))
        #expect(await service.isUnlocked)
        await service.lock(.stop)
    }

    // MARK: Deposits

    @Test("Deposits made while it was locked are ingested when it is unlocked")
    func ingestsDeposits() async throws {
        try scene.create("A.cbz").lock()
        let service = service()
        guard case .deposited(let deposit) = try await service.importComic(comic("B.cbz", key: "b")) else {
            throw TestFailure("it was sealed with keys that nobody has")
        }
        #expect(try await service.comic(key: Array("b".utf8)) == nil)
        try await service.unlock(StoreScene.credential())
        try await waitUntil("it is taken in") { notices.ingested == [deposit.drop] }
        try await waitUntil("that is over") { await !service.isIngesting }
        #expect(try await names(service) == ["A.cbz", "B.cbz"])
        #expect(try await service.comic(key: Array("b".utf8))?.name == "B.cbz")
        #expect(try scene.files("vault/drop").isEmpty)
        // When unlocked, it goes straight in, once.
        guard case .sealed(.added(let entry)) = try await service.importComic(comic("C.cbz", key: "c")) else {
            throw TestFailure("it was deposited")
        }
        guard case .sealed(.alreadyAdded(let again)) = try await service.importComic(comic("C.cbz", key: "c")) else {
            throw TestFailure("it was added twice")
        }
        #expect(entry.id == again.id)
        await service.lock(.stop)
    }

    @Test("A locked vault also keeps a duplicate that is to be kept")
    func keepsCopies() async throws {
        try scene.create("A.cbz").lock()
        let service = service()
        let bytes = StoreScene.archive("A.cbz")
        let file = scene.path.appending("inbox-copy")
        try Durable.replaceOwn(file, with: bytes)
        for (key, policy) in [("one", DuplicatePolicy.skip), ("two", .keep)] {
            _ = try await service.importComic(
                VaultComic(
                    archive: Descriptor(file), hash: ContentHash(of: bytes), name: "A.cbz", summary: ComicSummary(),
                    key: Array(key.utf8), duplicates: policy))
        }
        try await service.unlock(StoreScene.credential())
        try await waitUntil("all were tried") { await !service.isIngesting }
        #expect(try await names(service) == ["A (1).cbz", "A.cbz"])
        #expect(try await service.comic(key: Array("one".utf8)) == nil)
        #expect(try await service.comic(key: Array("two".utf8))?.name == "A (1).cbz")
        await service.lock(.stop)
    }

    @Test("A rejected deposit waits, its reason can be queried, and the others are ingested")
    func refusesDeposits() async throws {
        try scene.create().lock()
        let file = scene.path.appending("letter")
        try Durable.replaceOwn(file, with: Array("no comic".utf8))
        let bad = try VaultDeposit.seal(
            Descriptor(file),
            DropEnvelope(name: "letter.cbz", source: "", hash: ContentHash(of: Array("no comic".utf8)), time: .now()),
            into: scene.vault, host: scene.host())
        let good = try scene.deposit("B.cbz")
        let gone = try scene.deposit("C.cbz")
        try scene.remove(BytePath("vault/drop/\(gone.drop)"))
        let service = service()
        try await service.unlock(StoreScene.credential())
        try await waitUntil("all were tried") { await !service.isIngesting }
        #expect(notices.ingested == [good.drop])
        #expect(notices.refused == [bad.drop: "noComic"])
        #expect(notices.missing == 1)
        #expect(await service.refusals[bad.drop]?.contains("letter.cbz is no comic") == true)
        #expect(try scene.files("vault/drop") == [BytePath(bad.drop.description)])
        #expect(try await names(service) == ["B.cbz"])
        await service.lock(.stop)
    }

    /// Has no room for the first tries.
    private final class CrampedJudge: DepositJudge {
        private let left = Mutex(3)

        func judge(_ deposit: DropContent) throws -> DropVerdict {
            let hasRoom = left.withLock { left in
                left -= 1
                return left < 0
            }
            guard hasRoom else { throw Fault(.transient, "no room", errno: ENOSPC, code: "no-room") }
            return try SceneJudge().judge(deposit)
        }
    }

    @Test("A deposit without room is retried until there is some, and reported once")
    func roomLater() async throws {
        try scene.create().lock()
        let deposit = try scene.deposit("B.cbz")
        let notices = notices
        let service = VaultService(
            VaultPlace(name: "main", path: scene.vault, host: scene.path.appending("host"), idle: nil),
            judge: CrampedJudge(), pause: .milliseconds(2)
        ) { notices.add($0) }
        try await service.unlock(StoreScene.credential())
        try await waitUntil("it is taken in") { notices.ingested == [deposit.drop] }
        #expect(notices.refused == [deposit.drop: "no-room"] && notices.refusals == 1)
        #expect(await service.refusals.isEmpty)
        #expect(try await names(service) == ["B.cbz"])
        await service.lock(.stop)
    }

    @Test("Work that ends after locking leaves no comic names in the service")
    func nothingAfterLock() async throws {
        try scene.create().lock()
        let file = scene.path.appending("letter")
        try Durable.replaceOwn(file, with: Array("no comic".utf8))
        _ = try VaultDeposit.seal(
            Descriptor(file),
            DropEnvelope(name: "letter.cbz", source: "", hash: ContentHash(of: Array("no comic".utf8)), time: .now()),
            into: scene.vault, host: scene.host())
        let (begun, mayGoOn) = (Flag(), Flag())
        let service = VaultService(
            VaultPlace(name: "main", path: scene.vault, host: scene.path.appending("host"), idle: nil),
            judge: WaitingJudge(begun: begun, mayGoOn: mayGoOn))
        try await service.unlock(StoreScene.credential())
        try await waitUntil("it is being judged") { begun.isSet }
        await service.lock(.asked)
        mayGoOn.set()
        // The work's threads are free again: its error has been handled.
        try await waitUntil("the vault is free") { (try? scene.open().lock()) != nil }
        try await service.change {}
        #expect(await service.refusals.isEmpty)
        try await service.unlock(StoreScene.credential())
        try await waitUntil("all were tried") { await !service.isIngesting }
        #expect(await service.refusals.count == 1)
        await service.lock(.asked)
        #expect(await service.refusals.isEmpty)
    }

    private struct WaitingJudge: DepositJudge {
        let begun: Flag
        let mayGoOn: Flag

        func judge(_ deposit: DropContent) throws -> DropVerdict {
            begun.set()
            while !mayGoOn.isSet { usleep(1000) }
            throw Fault(.refused, "\(deposit.envelope.name) is no comic", code: "noComic")
        }
    }

    @Test("A foreign deposit is not touched until a person approves it")
    func strangersDeposit() async throws {
        try scene.create().lock()
        let stranger = try scene.host("stranger")
        try VaultDeposit.trust(VaultDeposit.offered(at: scene.vault, host: stranger), host: stranger)
        let deposit = try scene.deposit("B.cbz", host: stranger)
        let service = service()
        try await service.unlock(StoreScene.credential())
        try await waitUntil("all were tried") { await !service.isIngesting }
        #expect(notices.ingested.isEmpty && notices.refused.isEmpty)
        await #expect(throws: Fault.self) { try await service.ingest(deposit.drop, isApproved: false) }
        _ = try await service.ingest(deposit.drop, isApproved: true)
        #expect(try await names(service) == ["B.cbz"])
        await service.lock(.stop)
    }

    @Test("Nothing is sealed if this host does not trust the vault")
    func untrusted() async throws {
        try scene.create().lock()
        let place = VaultPlace(name: "main", path: scene.vault, host: scene.path.appending("other"))
        let service = VaultService(place, judge: SceneJudge())
        do {
            _ = try await service.importComic(comic("B.cbz", key: "b"))
            Issue.record("it was sealed to a key that nobody has compared")
        } catch let fault as Fault {
            #expect(fault.kind == .failed)
            #expect(fault.message.contains("steward vault trust"))
        }
        #expect(try scene.files("vault/drop").isEmpty)
    }

    @Test("A vault that is not configured is an error of the rule or command, which lists those that are")
    func keeper() async throws {
        let keeper = VaultKeeper([service()])
        #expect(try keeper.service().place.name == "main")
        #expect(throws: Fault.self) { try keeper.service("attic") }
        #expect(throws: Fault.self) { try VaultKeeper().service() }
        do {
            _ = try keeper.service("attic")
        } catch let fault as Fault {
            #expect(fault.kind == .usage)
            #expect(fault.message.contains("“attic”") && fault.message.contains("main"))
        }
    }
}
