import Platform
import Synchronization

/// One vault in the hands of an agent: locked, until somebody unlocks it; then until it is locked, or was not used for
/// a while, or the machine was suspended, or its folder is not the one that the configuration names any more. All that blocks
/// runs on threads of its own.
///
/// Where it has nothing to do and is locked it holds no timer and no thread.
package actor VaultService {
    /// The key that an agent was given for itself, by a credential of systemd. nil where there is none. Blocks.
    package typealias KeyAtHand = @Sendable () throws -> Credential?

    package nonisolated let place: VaultPlace
    private nonisolated let judge: any DepositJudge
    private nonisolated let key: KeyAtHand
    /// How long what failed by itself waits at first, before it is tried again.
    private nonisolated let pause: Duration
    nonisolated let notice: @Sendable (VaultNotice) -> Void
    private nonisolated let gate: BlockingPool
    nonisolated let work: BlockingPool
    /// Apart from the work: whoever asks how the vault stands waits for no import, and is told where its disk does not answer.
    private nonisolated let looks: BlockingPool

    private var session: Session?
    private var isUnlocking = false
    /// How often it has been locked: an unlock that was overtaken by a lock must not win.
    private var locks = 0
    /// Calls at work; while there are any the vault is in use.
    private var users = 0
    private var lastUse = ContinuousClock.now
    /// Waits for a vault that is away, where its key is at hand.
    private var returning: Task<Void, Never>?
    /// When the vault was locked because its folder was moved, replaced or unmounted; nil once it was unlocked or locked again.
    package private(set) var displacedSince: Timestamp?

    /// All that is known while the vault is unlocked; ``lock(_:)`` lets go of it. Work that ends later still finds its own
    /// session, and leaves nothing in the next one.
    private final class Session {
        let vault: SealedVault
        let since = Timestamp.now()
        /// Why deposits were not ingested. May name what is in them.
        var refusals: [ObjectID: String] = [:]
        /// What was found out about contents that are to be sealed; the oldest first.
        var kept: [(content: ContentHash, found: any Sendable)] = []
        var suspendWatch: SuspendWatch?
        var idleTimer: Task<Void, Never>?
        var ingestion: Task<Void, Never>?
        /// Waits until deposits that failed by themselves are tried again.
        var retry: Task<Void, Never>?

        init(_ vault: SealedVault) { self.vault = vault }

        func end() {
            refusals = [:]
            kept = []
            suspendWatch = nil
            idleTimer?.cancel()
            ingestion?.cancel()
            retry?.cancel()
        }
    }

    /// Touches nothing on the disk.
    ///
    /// - Parameters:
    ///   - pause: how long the service waits at first for a vault that is away, or for room; doubled up to ten minutes.
    ///   - notice: told what happens; it is called on any thread.
    ///   - key: asked for where the vault is to be unlocked without a person.
    package init(
        _ place: VaultPlace, judge: any DepositJudge, pause: Duration = .seconds(1),
        notice: @Sendable @escaping (VaultNotice) -> Void = { _ in }, key: @escaping KeyAtHand = { nil }
    ) {
        self.place = place
        self.judge = judge
        self.key = key
        self.pause = pause
        self.notice = notice
        gate = BlockingPool("vault.\(place.name)")
        work = BlockingPool("vault.\(place.name).work", threads: 3)
        looks = BlockingPool("vault.\(place.name).look", threads: 1, perBulkhead: true)
    }

    package var isUnlocked: Bool { session != nil }

    /// When it was unlocked.
    package var unlockedSince: Timestamp? { session?.since }

    /// Whether deposits are being ingested.
    package var isIngesting: Bool { session?.ingestion != nil }

    /// Why deposits were not ingested since the vault was unlocked, for the person who asks. May name what is in them.
    package var refusals: [ObjectID: String] { session?.refusals ?? [:] }

    // MARK: Unlocking

    /// Unlocks the vault, and begins to ingest this host's deposits in the background.
    ///
    /// - Returns: nil where it is unlocked already; the credential was not looked at then.
    /// - Throws: `VaultError`, `Fault`.
    @discardableResult
    package func unlock(_ credential: Credential, dropsTornTail: Bool = false) async throws -> UnlockReport? {
        try await endIfDisplaced()
        guard session == nil else {
            touch()
            return nil
        }
        guard !isUnlocking else {
            throw Fault(.transient, "the vault \(place.name) is being unlocked at this moment; try again")
        }
        isUnlocking = true
        defer { isUnlocking = false }
        let (place, asked) = (place, locks)
        let (opened, report) = try await gate.run {
            let vault = try place.open()
            return (vault, try vault.unlock(credential, dropsTornTail: dropsTornTail))
        }
        guard locks == asked else {
            await gate.runQuietly { opened.lock() }
            throw Fault(.failed, "the vault \(place.name) was locked while it was unlocked; unlock it again")
        }
        begin(opened)
        notice(.unlocked(report))
        if case .rolledBack = report.freshness {} else { ingestOwn() }
        return report
    }

    /// Unlocks the vault with the key that is at hand, if one is. A vault that is away is unlocked when it is there.
    ///
    /// - Throws: as ``unlock(_:dropsTornTail:)``; ``VaultError/away(_:)`` where it waits for the vault.
    package func unlockWithKeyAtHand() async throws {
        let key = key
        guard let credential = try await BlockingPool("credential").run({ try key() }) else { return }
        do {
            try await unlock(credential)
        } catch VaultError.away(let path) {
            awaitReturn()
            throw VaultError.away(path)
        }
    }

    private func begin(_ opened: SealedVault) {
        let session = Session(opened)
        self.session = session
        displacedSince = nil
        stopWaiting()
        do {
            session.suspendWatch = try SuspendWatch { Task { await self.lock(.suspend) } }
        } catch {
            notice(.problem("a suspend of the machine will not lock the vault: \(explain(error))"))
        }
        touch()
        guard let idle = place.idle else { return }
        session.idleTimer = Task { await self.lockWhenIdle(after: .seconds(idle)) }
    }

    /// Forgets the keys and gives up the vault's lock; when it returns that is done. Work that needs them fails.
    ///
    /// - Returns: whether it had been unlocked.
    @discardableResult
    package func lock(_ reason: LockReason) async -> Bool {
        locks += 1
        displacedSince = nil
        stopWaiting()
        guard let ended = session else { return false }
        session = nil
        ended.end()
        let vault = ended.vault
        await gate.runQuietly { vault.lock() }
        notice(.locked(reason))
        return true
    }

    private func touch() { lastUse = .now }

    private func lockWhenIdle(after idle: Duration) async {
        while !Task.isCancelled {
            let due = lastUse + idle
            if users == 0, due <= .now {
                // The timer's own task must not be cancelled in the midst of it.
                session?.idleTimer = nil
                await lock(.idle)
                return
            }
            do {
                try await Task.sleep(until: max(due, users > 0 ? .now + idle : due), clock: .continuous)
            } catch {
                return
            }
        }
    }

    // MARK: A folder that is not the one of that name any more

    /// Locks the vault where its path leads to another folder, or to none, or its disk gives errors: nothing more is written to
    /// the one that was opened. Where the key is at hand, the vault is unlocked when one is there again.
    package func endIfDisplaced() async throws {
        guard let vault = session?.vault else { return }
        if try await look({ try vault.folder.answers() }) { return }
        await end(vault)
    }

    private func end(_ vault: SealedVault) async {
        // Others may have found it at the same time.
        guard session?.vault === vault else { return }
        await lock(.displaced)
        guard session == nil else { return }
        displacedSince = .now()
        awaitReturn()
    }

    private func awaitReturn() {
        guard returning == nil else { return }
        let (pause, asked) = (pause, locks)
        returning = Task {
            var pauses = Pauses(pause)
            repeat {
                do { try await Task.sleep(for: pauses.next()) } catch { return }
            } while await !self.isSettled(asked)
            self.noLongerWaits(asked)
        }
    }

    /// Tries to unlock a vault that was away.
    ///
    /// - Returns: false where it is still away.
    private func isSettled(_ asked: Int) async -> Bool {
        guard locks == asked, session == nil else { return true }
        let (key, place) = (key, place)
        do {
            // Its disk first: a key is not fetched in vain each time.
            _ = try await look { try place.open() }
            guard let credential = try await BlockingPool("credential").run({ try key() }) else { return true }
            try await unlock(credential)
        } catch let error as VaultError where error.fault.kind == .transient {
            return false
        } catch let fault as Fault where fault.kind == .transient {
            return false
        } catch {
            notice(.problem("it was not unlocked with its credential: \(explain(error))"))
        }
        return true
    }

    private func noLongerWaits(_ asked: Int) {
        if locks == asked { returning = nil }
    }

    private func stopWaiting() {
        returning?.cancel()
        returning = nil
    }

    // MARK: Using it

    /// Works with the unlocked vault, on a thread that may block.
    ///
    /// - Parameter lanes: for work that may wait for a person; nil takes the vault's own, which imports need.
    /// - Throws: ``VaultError/locked``, also where the vault's folder turned out not to be the one of its name any more, and
    ///   what `body` throws.
    package func use<R: Sendable>(
        on lanes: BlockingPool? = nil, _ body: @Sendable (SealedVault) throws -> R
    ) async throws -> R {
        guard let vault = session?.vault else { throw VaultError.locked }
        users += 1
        defer {
            users -= 1
            touch()
        }
        let outcome = try await (lanes ?? work).run { () -> Used<R> in
            do {
                try vault.folder.requireStanding()
                return .done(try body(vault))
            } catch {
                // A disk that is gone makes any call fail, in any way; where nobody can tell, the error itself says more.
                return (try? Self.isGone(vault.folder, error)) == true ? .displaced : .failed(error)
            }
        }
        switch outcome {
        case .done(let result): return result
        case .failed(let error): throw error
        case .displaced:
            await end(vault)
            throw VaultError.locked
        }
    }

    /// Whether the folder is another by now, or the error was its disk's and not that of one place on it: then the session has
    /// nothing to go on with, and what it holds open only keeps others from mending or mounting the disk.
    private static func isGone(_ folder: SealedVaultFolder, _ error: any Error) throws -> Bool {
        guard try folder.stands() else { return true }
        guard let fault = error as? Fault ?? (error as? VaultError)?.fault, SealedVaultFolder.isDead(fault) else {
            return false
        }
        return try !folder.answers() || !folder.takesFiles()
    }

    private enum Used<R: Sendable>: Sendable {
        case done(R)
        case failed(any Error)
        case displaced
    }

    /// Remembers what was found out about a content that is to be sealed, for as long as the vault stays unlocked; of a
    /// locked vault nothing is remembered. The oldest is forgotten for the 65th.
    package func keep(_ found: any Sendable, of content: ContentHash) {
        guard let session else { return }
        session.kept.removeAll { $0.content == content }
        session.kept = session.kept.suffix(63) + [(content, found)]
    }

    /// What ``keep(_:of:)`` was given, once.
    package func takeKept(_ content: ContentHash) -> (any Sendable)? {
        guard let session, let index = session.kept.firstIndex(where: { $0.content == content }) else { return nil }
        return session.kept.remove(at: index).found
    }

    // MARK: Deposits

    /// Ingests a deposit that a person has approved.
    package func ingest(_ id: ObjectID, isApproved: Bool) async throws -> AddOutcome {
        let (judge, session) = (judge, session)
        do {
            let outcome = try await use { try $0.ingest(id, isApproved: isApproved, judge: judge) }
            session?.refusals[id] = nil
            return outcome
        } catch {
            // One that has ended meanwhile is not told any more.
            if session === self.session { session?.refusals[id] = explain(error) }
            throw error
        }
    }

    /// Begins to ingest the deposits that this host has made. What fails for want of room, or of what else may come by itself,
    /// is tried again for as long as the vault is unlocked.
    private func ingestOwn(_ pauses: Pauses? = nil) {
        guard let session else { return }
        let (unlocked, isFirst) = (locks, pauses == nil)
        var pauses = pauses ?? Pauses(pause)
        session.ingestion = Task {
            let waits = await self.ingestAll(isFirst: isFirst)
            // Locked and unlocked meanwhile: then it is another one's turn.
            guard self.locks == unlocked, let session = self.session else { return }
            session.ingestion = nil
            guard waits else { return }
            let next = pauses.next()
            let following = pauses
            session.retry = Task {
                do { try await Task.sleep(for: next) } catch { return }
                if self.locks == unlocked { self.ingestOwn(following) }
            }
        }
    }

    /// - Returns: whether one is to be tried again.
    private func ingestAll(isFirst: Bool) async -> Bool {
        do {
            let drops = try await use { try $0.drops() }
            if isFirst, !drops.missing.isEmpty { notice(.missing(drops.missing.count)) }
            var waits = false
            for drop in drops.waiting where drop.origin == .ownDeposit {
                if Task.isCancelled { return false }
                let isKnown = refusals[drop.id] != nil
                do {
                    _ = try await ingest(drop.id, isApproved: false)
                    notice(.ingested(drop.id))
                } catch VaultError.locked {
                    return false
                } catch {
                    let fault = error as? Fault ?? (error as? VaultError)?.fault
                    waits = waits || fault?.kind == .transient
                    if !isKnown { notice(.notIngested(drop.id, code: fault?.code ?? "failed")) }
                }
            }
            return waits
        } catch VaultError.locked {
            return false
        } catch {
            notice(.problem("deposits were not taken in: \(explain(error))"))
            return false
        }
    }

    /// How many comics there are. Does not count as use.
    ///
    /// - Throws: ``VaultError/locked``.
    package func count() async throws -> Int {
        guard let vault = session?.vault else { throw VaultError.locked }
        return try await look { try vault.state().comics.count }
    }

    /// How the vault stands to what this host remembers of it. Does not count as use.
    ///
    /// - Throws: ``VaultError/locked``.
    package func freshness() async throws -> ManifestFreshness {
        guard let vault = session?.vault else { throw VaultError.locked }
        return try await look { try vault.freshness() }
    }
}

extension SealedVault {
    /// Ingests a deposit that `judge` accepts; see ``ingest(_:isApproved:limit:validate:)``. One deposit at a time,
    /// whichever vault they are in.
    package func ingest(_ id: ObjectID, isApproved: Bool = false, judge: any DepositJudge) throws -> AddOutcome {
        try ingesting.withLock { _ in
            try ingest(id, isApproved: isApproved) { try judge.judge($0) }
        }
    }
}

/// Held while a deposit is ingested.
private let ingesting = Mutex(())

extension VaultService {
    /// Looks at the locked vault's files, on a thread that may block. Does not count as use.
    ///
    /// - Throws: what `body` throws; `Fault(.transient)` with the code ``Fault/hanging`` where the vault's disk does not
    ///   answer.
    package nonisolated func look<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
        try await Bulkhead.$current.withValue(.vault(place.name)) { try await looks.run(body) }
    }

    /// Changes the locked vault's files, on a thread that may block, and keeps nobody waiting who looks at them. Does not count
    /// as use.
    package nonisolated func change<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
        try await work.run(body)
    }
}
