import Platform
import Synchronization

/// How many steps of one kind of work run at a time.
final class StepLimit: Sendable {
    private let semaphore: AsyncSemaphore
    /// Those of steps that have not ended.
    private let permits = Mutex<[ObjectIdentifier: StepPermit]>([:])

    /// - Parameter permits: at least one.
    init(permits: Int) { semaphore = AsyncSemaphore(permits: permits) }

    /// Waits for a permit.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func acquire() async throws(CancellationError) -> StepPermit { add(try await semaphore.acquire()) }

    /// Nil if no permit is free.
    func acquireIfFree() -> StepPermit? { semaphore.acquireIfFree().map(add) }

    private func add(_ permit: AsyncSemaphore.Permit) -> StepPermit {
        let permit = StepPermit(permit, of: self)
        permits.withLock { $0[ObjectIdentifier(permit)] = permit }
        return permit
    }

    fileprivate func remove(_ permit: StepPermit) { permits.withLock { $0[ObjectIdentifier(permit)] = nil } }

    /// Takes permits away from steps that have held them for longer than a call that returns takes, the oldest first; the
    /// steps go on without. A long step cannot be told from one that hangs, so no more are taken than calls hang.
    ///
    /// - Parameter hung: how many calls hang.
    func reclaim(hung: Int) {
        let latest = ContinuousClock.now - .seconds(HangWatch.threshold)
        permits.withLock { permits in
            let reclaimed = permits.values.count { !$0.isHeld }
            let old = permits.values.filter { $0.isHeld && $0.since <= latest }.sorted { $0.since < $1.since }
            for permit in old.prefix(max(0, hung - reclaimed)) { permit.reclaim() }
        }
    }
}

/// A step's permit to run.
package final class StepPermit: Sendable {
    /// That of the step which is being carried out; nil outside of one.
    @TaskLocal package static var current: StepPermit?

    let since = ContinuousClock.now
    private let permit: AsyncSemaphore.Permit
    private let limit: StepLimit

    fileprivate init(_ permit: AsyncSemaphore.Permit, of limit: StepLimit) {
        (self.permit, self.limit) = (permit, limit)
    }

    /// Whether it has been neither released nor reclaimed.
    fileprivate var isHeld: Bool { permit.isHeld }

    func isHeld(of limit: StepLimit) -> Bool { self.limit === limit && isHeld }

    fileprivate func reclaim() { permit.release() }

    /// Passes it on. A step may do so before it ends: once it knows that it takes long, and waits for another limit.
    package func release() {
        permit.release()
        limit.remove(self)
    }
}
