import Platform

/// Something that says where to look (docs/design/events.md). The rest of the code knows no more of it than this.
///
/// All calls but ``status()`` block until the owner thread has obeyed, which may take as long as
/// a walk through the roots: call them on a `BlockingPool`.
package protocol EventSource: Sendable {
    /// Where the marks arrive.
    var dirty: DirtySet { get }

    /// Begins to watch. When it returns all watches are placed, so that a scan from now on leaves no gap.
    ///
    /// - Throws: `Fault`; roots that are missing or may not be read are no error, but a matter of ``status()``.
    func start(_ roots: [WatchRoot]) throws

    /// Watches these roots in place of the present ones; what stays the same keeps its watches.
    func replaceRoots(_ roots: [WatchRoot])

    /// Reads everything that happened before the call, so that its marks are in ``dirty`` when this returns.
    ///
    /// - Returns: false where something is still kept back: the first half of a rename, a rescan that is due.
    func catchUp() -> Bool

    /// Ends watching and waits for the owner thread. Nothing can be started again on this value.
    func stop()

    func status() -> WatchStatus

    /// Calls `onChange` on the owner thread whenever something in this folder or below may have changed, the folder's
    /// own coming and going included: it must not block.
    func watchFolder(_ folder: BytePath, onChange: @escaping @Sendable () -> Void)

    func stopWatchingFolder(_ folder: BytePath)
}
