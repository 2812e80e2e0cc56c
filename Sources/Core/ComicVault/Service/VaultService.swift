import Platform
import Synchronization

/// One vault in the hands of an agent: locked, until somebody unlocks it; then until it is locked, or was not used for
/// a while, or the machine was suspended. All that blocks runs on threads of its own.
///
/// Where it has nothing to do and is locked it holds no timer and no thread.
package actor VaultService {
    package nonisolated let place: VaultPlace
    private nonisolated let judge: any DepositJudge
    nonisolated let notice: @Sendable (VaultNotice) -> Void
    private nonisolated let gate: BlockingLane
    nonisolated let work: BlockingLanes
    /// Apart from the work: whoever asks how the vault stands waits for no import, and is told where its disk does not answer.
    private nonisolated let looks: BlockingLanes

    fileprivate var vault: SealedVault?
    private var since: Timestamp?
    private var isUnlocking = false
    /// How often it has been locked: an unlock that was overtaken by a lock must not win.
    private var locks = 0
    /// Calls at work; while there are any the vault is in use.
    private var users = 0
    private var lastUse = ContinuousClock.now
    private var idleTimer: Task<Void, Never>?
    private var suspendWatch: SuspendWatch?
    private var ingestion: Task<Void, Never>?
    /// Why deposits were not ingested since the vault was unlocked, for the person who asks. May name what is in them.
    package private(set) var refusals: [ObjectID: String] = [:]

    /// Touches nothing on the disk.
    ///
    /// - Parameter notice: told what happens; it is called on any thread.
    package init(
        _ place: VaultPlace, judge: any DepositJudge, notice: @Sendable @escaping (VaultNotice) -> Void = { _ in }
    ) {
        self.place = place
        self.judge = judge
        self.notice = notice
        gate = BlockingLane("vault.\(place.name)")
        work = BlockingLanes("vault.\(place.name).work", count: 3)
        looks = BlockingLanes("vault.\(place.name).look", count: 1, apart: true)
    }

    package var isUnlocked: Bool { vault != nil }

    /// When it was unlocked.
    package var unlockedSince: Timestamp? { since }

    /// Whether deposits are being ingested.
    package var isIngesting: Bool { ingestion != nil }

    /// Unlocks the vault, and begins to ingest this host's deposits in the background.
    ///
    /// - Returns: nil where it is unlocked already; the credential was not looked at then.
    /// - Throws: `VaultError`, `Fault`.
    @discardableResult
    package func unlock(_ credential: Credential, dropsTornTail: Bool = false) async throws -> UnlockReport? {
        guard vault == nil else {
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

    private func begin(_ opened: SealedVault) {
        vault = opened
        since = .now()
        refusals = [:]
        do {
            suspendWatch = try SuspendWatch { Task { await self.lock(.suspend) } }
        } catch {
            notice(.problem("a suspend of the machine will not lock the vault: \(explain(error))"))
        }
        touch()
        guard let idle = place.idle else { return }
        idleTimer = Task { await self.lockWhenIdle(after: .seconds(idle)) }
    }

    /// Forgets the keys and gives up the vault's lock; when it returns that is done. Work that needs them fails.
    ///
    /// - Returns: whether it had been unlocked.
    @discardableResult
    package func lock(_ reason: LockReason) async -> Bool {
        locks += 1
        guard let opened = vault else { return false }
        vault = nil
        since = nil
        // They may name comics.
        refusals = [:]
        suspendWatch = nil
        idleTimer?.cancel()
        idleTimer = nil
        ingestion?.cancel()
        ingestion = nil
        await gate.runQuietly { opened.lock() }
        notice(.locked(reason))
        return true
    }

    private func touch() { lastUse = .now }

    private func lockWhenIdle(after idle: Duration) async {
        while !Task.isCancelled {
            let due = lastUse + idle
            if users == 0, due <= .now {
                // The timer's own task must not be cancelled in the midst of it.
                idleTimer = nil
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

    /// Works with the unlocked vault, on a thread that may block.
    ///
    /// - Parameter lanes: for work that may wait for a person; nil takes the vault's own, which imports need.
    /// - Throws: ``VaultError/locked``, and what `body` throws.
    package func use<R: Sendable>(
        on lanes: BlockingLanes? = nil, _ body: @Sendable (SealedVault) throws -> R
    ) async throws -> R {
        guard let vault else { throw VaultError.locked }
        users += 1
        defer {
            users -= 1
            touch()
        }
        return try await (lanes ?? work).run { try body(vault) }
    }

    // MARK: Deposits

    /// Ingests a deposit that a person has approved.
    package func ingest(_ id: ObjectID, isApproved: Bool) async throws -> AddOutcome {
        let judge = judge
        do {
            let outcome = try await use { try $0.ingest(id, isApproved: isApproved, judge: judge) }
            refusals[id] = nil
            return outcome
        } catch {
            refusals[id] = explain(error)
            throw error
        }
    }

    /// Begins to ingest the deposits that this host has made.
    private func ingestOwn() {
        let unlocked = locks
        ingestion = Task {
            await self.ingestAll()
            // Locked and unlocked meanwhile: then it is another one's turn.
            if self.locks == unlocked { self.ingestion = nil }
        }
    }

    private func ingestAll() async {
        do {
            let drops = try await use { try $0.drops() }
            if !drops.missing.isEmpty { notice(.missing(drops.missing.count)) }
            for drop in drops.waiting where drop.origin == .ownDeposit {
                if Task.isCancelled { return }
                do {
                    _ = try await ingest(drop.id, isApproved: false)
                    notice(.ingested(drop.id))
                } catch VaultError.locked {
                    return
                } catch {
                    notice(.notIngested(drop.id, code: (error as? Fault)?.code ?? "failed"))
                }
            }
        } catch VaultError.locked {
            return
        } catch {
            notice(.problem("deposits were not taken in: \(explain(error))"))
        }
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

extension BlockingLane {
    /// For work that cannot fail.
    fileprivate func runQuietly(_ work: @Sendable () -> Void) { work() }
}

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

    /// How many comics there are. Does not count as use.
    ///
    /// - Throws: ``VaultError/locked``.
    package func count() async throws -> Int {
        guard let vault else { throw VaultError.locked }
        return try await look { try vault.state().comics.count }
    }

    /// How the vault stands to what this host remembers of it. Does not count as use.
    ///
    /// - Throws: ``VaultError/locked``.
    package func freshness() async throws -> ManifestFreshness {
        guard let vault else { throw VaultError.locked }
        return try await look { try vault.freshness() }
    }
}
