import Platform

/// A source of hints where to look (docs/design/events.md); the rest of the code knows no more about it than this.
///
/// All calls but ``status()`` block until the owner thread has carried them out, which may take as long as a walk
/// through the roots: call them on a `BlockingPool`.
package protocol EventSource: Sendable {
    /// Where marks arrive.
    var dirty: DirtySet { get }

    /// Starts watching. All watches are placed when this returns, so a scan started afterwards leaves no gap.
    ///
    /// - Throws: `Fault`. Missing or unreadable roots are not errors: see ``status()``.
    func start(_ roots: [WatchRoot]) throws

    /// Reads every event raised before the call, so that its marks are in ``dirty`` when this returns.
    ///
    /// - Returns: false if something is still held back: the first half of a rename, or a pending rescan.
    func catchUp() -> Bool

    /// Stops watching and waits for the owner thread. This value cannot be started again.
    func stop()

    func status() -> WatchStatus

    /// Makes the owner thread go round its loop once. Blocks for at most that long.
    func turning(within seconds: Double) -> OwnerThreadState

    /// Calls `onChange` on the owner thread whenever something in or below this folder may have changed, including the
    /// folder appearing or disappearing. `onChange` must not block.
    func watchFolder(_ folder: BytePath, onChange: @escaping @Sendable () -> Void)
}

/// Whether an owner thread makes progress, waits for a disk, or is stuck.
package enum OwnerThreadState: Sendable { case isTurning, waitsForDisk, isStuck }
