import Platform
import Synchronization

/// Limits how many steps of one kind of work run concurrently.
final class StepLimit: Sendable {
    private let semaphore: AsyncSemaphore
    /// The permits of steps that have not ended.
    private let permits = Mutex<[ObjectIdentifier: StepPermit]>([:])

    /// - Parameter permits: at least one.
    init(permits: Int) { semaphore = AsyncSemaphore(permits: permits) }

    /// Waits for a permit.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func acquire() async throws(CancellationError) -> StepPermit { add(try await semaphore.acquire()) }

    /// A permit, or nil if none is free.
    func acquireIfFree() -> StepPermit? { semaphore.acquireIfFree().map(add) }

    private func add(_ permit: AsyncSemaphore.Permit) -> StepPermit {
        let permit = StepPermit(permit, of: self)
        permits.withLock { $0[ObjectIdentifier(permit)] = permit }
        return permit
    }

    fileprivate func remove(_ permit: StepPermit) { permits.withLock { $0[ObjectIdentifier(permit)] = nil } }

    /// Takes permits away from steps that have held them for longer than any normal call takes, oldest first; those
    /// steps continue without one. A long step cannot be told from a hung one, so at most `hung` permits are taken.
    ///
    /// - Parameter hung: the number of hung calls.
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
    /// The permit of the current step; nil outside of a step.
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

    /// Releases the permit. A step may do so before it ends if it takes long and waits for another limit.
    package func release() {
        permit.release()
        limit.remove(self)
    }
}
