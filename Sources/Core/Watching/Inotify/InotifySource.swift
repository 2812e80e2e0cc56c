import Platform
import Synchronization

/// Watches with inotify, on its own thread.
///
/// With libinotifytools there can be only one per process, because the library's state is global. Create it before much
/// else is open: the library cannot handle a descriptor above 1023.
package final class InotifySource: EventSource {
    package let dirty: DirtySet
    private let mailbox: Mailbox<WatchLoop>
    private let board = WatchBoard()
    private let thread: OwnerThread

    /// Starts the owner thread; nothing is watched yet.
    ///
    /// - Throws: `Fault`, also if another source in this process uses the library.
    package init(_ options: WatchOptions = WatchOptions(), dirty: DirtySet = DirtySet()) throws {
        self.dirty = dirty
        mailbox = try Mailbox()
        let began = Outcome()
        thread = try OwnerThread { [mailbox, board] in
            do {
                let loop = WatchLoop(
                    events: try options.events.open(), mailbox: mailbox, dirty: dirty, options: options, board: board)
                began.set(nil)
                loop.run()
            } catch {
                mailbox.close()
                began.set(error as? Fault ?? Fault(.fatal, explain(error)))
            }
        }
        if let fault = began.wait() {
            thread.join()
            throw fault
        }
    }

    deinit { stop() }

    package func start(_ roots: [WatchRoot]) throws {
        guard mailbox.ask({ $0.setRoots(roots) }) else {
            throw Fault(.fatal, "watching has been stopped and cannot be started again; make a new source")
        }
    }

    package func catchUp() -> Bool {
        let isDone = Mutex(true)
        mailbox.ask { loop in
            let nothingKept = loop.drainEvents()
            isDone.withLock { $0 = nothingKept }
        }
        return isDone.withLock { $0 }
    }

    package func turning(within seconds: Double) -> OwnerThreadState {
        if mailbox.comesRound(within: seconds) { return .isTurning }
        return board.callsOnDisks.load(ordering: .relaxed) > 0 ? .waitsForDisk : .isStuck
    }

    package func stop() {
        mailbox.post { $0.isStopping = true }
        thread.join()
    }

    package func status() -> WatchStatus { board.status.withLock { $0 } }

    package func watchFolder(_ folder: BytePath, onChange: @escaping @Sendable () -> Void) {
        let key = WatchLoop.folderKey(folder)
        mailbox.ask { loop in
            if let old = loop.roots[key] { loop.drop(old) }
            loop.addRoot(key, RootWatch(WatchRoot(name: key, path: folder), onChange: onChange))
        }
    }
}
