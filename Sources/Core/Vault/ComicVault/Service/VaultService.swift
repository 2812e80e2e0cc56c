import Platform

/// One vault as managed by an agent. It is locked until a person or a key at hand unlocks it. It locks again on
/// request, when idle, after a suspend, or when its folder is no longer the configured one. All blocking work runs on
/// its own threads.
///
/// While locked with nothing to do, it holds no timer and no thread.
package actor VaultService {
    /// The key at hand, which systemd passed to the agent as a credential; nil if there is none. Blocks.
    package typealias KeyAtHand = @Sendable () throws -> Credential?

    package nonisolated let place: VaultPlace
    private nonisolated let judge: any DepositJudge
    private nonisolated let key: KeyAtHand
    /// Before what failed is retried, if it may resolve without a person.
    private nonisolated let backoff: Backoff
    nonisolated let notice: @Sendable (VaultNotice) -> Void
    private nonisolated let gate: BlockingPool
    nonisolated let work: BlockingPool
    /// Separate from the work: a status query waits for no import, and still gets an answer if the vault's disk hangs.
    private nonisolated let looks: BlockingPool

    private var session: UnlockedVault?
    private var isUnlocking = false
    /// Counts locks: an unlock overtaken by a lock must not win.
    private var locks = 0
    /// Calls in flight; the vault is in use while there are any.
    private var users = 0
    private var lastUse = ContinuousClock.now
    /// Waits for a vault that is away, if its key is at hand.
    private var returning: Task<Void, Never>?
    /// When the vault was locked because its folder was moved, replaced or unmounted; reset to nil when it is next
    /// unlocked or locked.
    package private(set) var displacedSince: Timestamp?

    /// Touches nothing on disk.
    ///
    /// - Parameters:
    ///   - pause: the initial backoff while a vault is away or a disk is full; doubled up to ten minutes.
    ///   - notice: receives events; called on any thread.
    ///   - key: called to unlock the vault without a person.
    package init(
        _ place: VaultPlace, judge: any DepositJudge, pause: Duration = .seconds(1),
        notice: @Sendable @escaping (VaultNotice) -> Void = { _ in }, key: @escaping KeyAtHand = { nil }
    ) {
        self.place = place
        self.judge = judge
        self.key = key
        backoff = Backoff(first: pause, longest: .seconds(600))
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

    /// Why deposits were not ingested since the vault was unlocked, for a person's query. May name their content.
    package var refusals: [ObjectID: String] { session?.refusals ?? [:] }

    // MARK: Unlocking

    /// Unlocks the vault, and begins to ingest this host's deposits in the background.
    ///
    /// - Returns: nil if it is unlocked already; the credential is not checked then.
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

    /// Unlocks the vault with the key at hand, if there is one. A vault that is away is unlocked when it returns.
    ///
    /// - Throws: like ``unlock(_:dropsTornTail:)``; ``VaultError/away(_:)`` if it waits for the vault.
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
        let session = UnlockedVault(opened)
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

    /// Wipes the keys and releases the vault's lock before it returns. Work that needs them fails.
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
                // This may run in the timer's own task, which must not be cancelled halfway.
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

    /// Locks the vault if its path leads to another folder or to none, or its disk gives errors: nothing more is
    /// written to the opened folder. If the key is at hand, the vault is unlocked again when it returns.
    package func endIfDisplaced() async throws {
        guard let vault = session?.vault else { return }
        if try await look({ try vault.folder.answers() }) { return }
        await end(vault)
    }

    private func end(_ vault: SealedVault) async {
        // Another caller may have found it at the same time.
        guard session?.vault === vault else { return }
        await lock(.displaced)
        guard session == nil else { return }
        displacedSince = .now()
        awaitReturn()
    }

    private func awaitReturn() {
        guard returning == nil else { return }
        let asked = locks
        returning = Task {
            var backoff = self.backoff
            repeat {
                do { try await Task.sleep(for: backoff.next()) } catch { return }
            } while await !self.isSettled(asked)
            self.noLongerWaits(asked)
        }
    }

    /// Tries to unlock a vault that was away.
    ///
    /// - Returns: false if it is still away.
    private func isSettled(_ asked: Int) async -> Bool {
        guard locks == asked, session == nil else { return true }
        let (key, place) = (key, place)
        do {
            // Check the disk first, so that the key is not fetched for nothing each time.
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

    // Works with the unlocked vault, on a thread that may block.

    /// Works with the unlocked vault, on a thread that may block.
    ///
    /// - Parameter pool: for work that may wait for a person; nil uses the vault's own threads, which imports need.
    /// - Throws: ``VaultError/locked``, also if the vault's folder has been displaced; any error from `body`.
    package func use<R: Sendable>(
        on pool: BlockingPool? = nil, _ body: @Sendable (SealedVault) throws -> R
    ) async throws -> R {
        guard let vault = session?.vault else { throw VaultError.locked }
        users += 1
        defer {
            users -= 1
            touch()
        }
        let outcome = try await (pool ?? work).run { () -> Used<R> in
            do {
                try vault.folder.requireStanding()
                return .done(try body(vault))
            } catch {
                // If a disk is gone, a call may fail in any way; if that cannot be established, the original error says
                // more.
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

    /// Whether the folder was replaced, or the error concerns its whole disk rather than one place on it. The session
    /// is useless then, and its open files would only prevent a repair or a remount.
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

    /// Caches a finding about a content to be sealed while the vault stays unlocked; a locked vault caches nothing.
    /// Holds 64 entries; the oldest is evicted.
    package func keep(_ found: any Sendable, of content: ContentHash) { session?.keep(found, of: content) }

    /// Removes and returns the value given to ``keep(_:of:)``.
    package func takeKept(_ content: ContentHash) -> (any Sendable)? { session?.takeKept(content) }

    // MARK: Deposits

    /// Ingests a deposit that a person has approved.
    package func ingest(_ id: ObjectID, isApproved: Bool) async throws -> AddOutcome {
        let (judge, session) = (judge, session)
        do {
            let outcome = try await use { try $0.ingest(id, isApproved: isApproved, judge: judge) }
            session?.refusals[id] = nil
            return outcome
        } catch {
            // A session that has ended in the meantime is not updated.
            if session === self.session { session?.refusals[id] = explain(error) }
            throw error
        }
    }

    /// Begins to ingest this host's deposits. Failures from lack of space, and others that may resolve without a
    /// person, are retried while the vault is unlocked.
    private func ingestOwn(_ retries: Backoff? = nil) {
        guard let session else { return }
        let (unlocked, isFirst) = (locks, retries == nil)
        var backoff = retries ?? self.backoff
        session.ingestion = Task {
            let waits = await self.ingestAll(isFirst: isFirst)
            // Locked and unlocked in the meantime: the new session does this itself.
            guard self.locks == unlocked, let session = self.session else { return }
            session.ingestion = nil
            guard waits else { return }
            let next = backoff.next()
            let following = backoff
            session.retry = Task {
                do { try await Task.sleep(for: next) } catch { return }
                if self.locks == unlocked { self.ingestOwn(following) }
            }
        }
    }

    /// - Returns: whether any needs a retry.
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
            notice(.problem("deposits were not ingested: \(explain(error))"))
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

    /// How the vault relates to this host's memory of it. Does not count as use.
    ///
    /// - Throws: ``VaultError/locked``.
    package func freshness() async throws -> ManifestFreshness {
        guard let vault = session?.vault else { throw VaultError.locked }
        return try await look { try vault.freshness() }
    }
}

extension VaultService {
    /// Reads the locked vault's files, on a thread that may block. Does not count as use.
    ///
    /// - Throws: any error from `body`; `Fault(.transient)` with the code ``Fault/hanging`` if the vault's disk does
    ///   not answer.
    package nonisolated func look<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
        try await Bulkhead.$current.withValue(.vault(place.name)) { try await looks.run(body) }
    }

    /// Changes the locked vault's files, on a thread that may block, without delaying readers of them. Does not count
    /// as use.
    package nonisolated func change<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
        try await work.run(body)
    }
}
