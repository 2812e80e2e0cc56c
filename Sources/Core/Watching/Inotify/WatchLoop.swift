import CLinux
import Glibc
import Platform
import Synchronization

/// The owner thread's state as published to other threads.
final class WatchBoard: Sendable {
    let status = Mutex(WatchStatus())
    /// How deeply nested the thread is in calls on people's disks, any of which may never return.
    let callsOnDisks = Atomic<Int>(0)
}

/// The owner thread: turns kernel events into marks (docs/design/events.md).
///
/// Its loop: wait, run commands, do what is due, read all events, remove unneeded watches. Everything in it and below
/// it is confined to the thread.
final class WatchLoop {
    let events: any EventQueue
    let mailbox: Mailbox<WatchLoop>
    let dirty: DirtySet
    let options: WatchOptions
    let board: WatchBoard
    var isStopping = false

    var table = WatchTable()
    var roots: [String: RootWatch] = [:]
    /// Folders to which the kernel refused a watch; polled until it grants one.
    var unwatched: Set<FolderNode> = []
    /// First halves of renames waiting for the second, oldest first.
    var parked: [ParkedRename] = []
    /// Roots that an event cast doubt on; checked once all events are read.
    var suspects: Set<RootWatch> = []
    var mounts: [Mount] = []

    /// Events were lost or cannot be interpreted.
    var rescanWanted = false
    /// Roots whose watches were just placed: of a rename meanwhile, only the second half may be queued.
    var justPlaced: Set<RootWatch> = []
    var numbers = WatchStatus()

    /// Nanoseconds of the monotonic clock; nil if nothing is due.
    var rescanNotBefore: Int64 = 0
    private var rescanBackoff: Backoff
    private var pollDue: Int64?
    private var hourlyDue: Int64?
    private var sightDue: Int64?
    /// Events may be pending that poll(2) does not report: in our buffer or the library's.
    private var mayHaveMore = false
    private let mountInfo: Descriptor?

    init(
        events: any EventQueue, mailbox: Mailbox<WatchLoop>, dirty: DirtySet, options: WatchOptions, board: WatchBoard
    ) {
        self.events = events
        self.mailbox = mailbox
        self.dirty = dirty
        self.options = options
        self.board = board
        rescanBackoff = Backoff(first: .seconds(options.rescanBackoff), longest: .seconds(60))
        // Without /proc, only the hourly rescan notices mounts.
        mountInfo = PathStatus.kernelFile("/proc/self/mountinfo")
        mounts = Mount.all()
    }

    func run() {
        while !isStopping {
            wait()
            mailbox.obey(self)
            if isStopping { break }
            turn()
        }
        mailbox.close()
        for root in roots.values { drop(root) }
        putAwayAll()
        events.close()
        publish()
    }

    /// Does what is due and handles the pending events, without waiting for any.
    func turn() {
        doWhatIsDue()
        let begun = Self.now()
        readEvents()
        // Only now: the second half may have been in the queue all along while this thread was not running.
        if !mayHaveMore { abandonRenames(dueBy: begun) }
        checkSuspects()
        putAway()
        publish()
    }

    private func wait() {
        var fds = [
            pollfd(fd: events.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mailbox.descriptor.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mountInfo?.raw ?? -1, events: Int16(POLLPRI | POLLERR), revents: 0),
        ]
        let ready = poll(&fds, nfds_t(fds.count), millisecondsToNext())
        numbers.wakeUps += 1
        if ready > 0, fds[2].revents != 0 { mountsChanged() }
    }

    private func millisecondsToNext() -> Int32 {
        if mayHaveMore || !justPlaced.isEmpty || !suspects.isEmpty || !table.orphans.isEmpty { return 0 }
        var next = [parked.first?.due, pollDue, hourlyDue, sightDue].compactMap(\.self)
        if rescanWanted { next.append(rescanNotBefore) }
        guard let first = next.min() else { return -1 }
        return Int32(clamping: max(0, (first - Self.now() + 999_999) / 1_000_000))
    }

    private func doWhatIsDue() {
        let now = Self.now()
        if let due = pollDue, due <= now { pollUnwatched() }
        if let due = hourlyDue, due <= now { rescan() }
        if let due = sightDue, due <= now { beginAnew() }
        scheduleTimers()
    }

    private func abandonRenames(dueBy time: Int64) {
        while let first = parked.first, first.due <= time {
            parked.removeFirst()
            abandon(first)
        }
    }

    func scheduleTimers() {
        if roots.isEmpty {
            hourlyDue = nil
        } else if hourlyDue == nil {
            hourlyDue = Self.now() + Self.nanoseconds(options.rescanInterval)
        }
        if unwatched.isEmpty {
            pollDue = nil
        } else if pollDue == nil {
            let interval = unwatched.map(\.owner.spec.pollInterval).min() ?? 30
            pollDue = Self.now() + Self.nanoseconds(interval)
        }
    }

    /// Watches were freed: folders waiting for one need not wait for the next poll.
    func retryUnwatchedSoon() {
        guard !unwatched.isEmpty else { return }
        pollDue = min(pollDue ?? .max, Self.now() + Self.nanoseconds(0.2))
    }

    private func pollUnwatched() {
        pollDue = nil
        lookAtUnwatched()
        scheduleTimers()
    }

    /// Reads the pending events. An overflow is only noted: a rescan makes sense once the queue is empty.
    private func readEvents() {
        var left = 50_000
        mayHaveMore = false
        while let event = events.next() {
            numbers.events += 1
            handle(event)
            left -= 1
            if left == 0 {
                mayHaveMore = true
                return
            }
        }
        justPlaced = []
        if rescanWanted, Self.now() >= rescanNotBefore { rescan() }
    }

    /// Reads every event raised so far.
    ///
    /// - Returns: whether nothing is held back.
    func drainEvents() -> Bool {
        repeat { readEvents() } while mayHaveMore
        checkSuspects()
        return parked.isEmpty && !rescanWanted
    }

    /// Rescans everything: ensures that all watches exist, then marks everything.
    ///
    /// After a loss of events no watch is known to exist: one may have gone with its folder, and a new folder of the
    /// same name may even have the same inode. So all are placed anew.
    func rescan() {
        let isInDoubt = rescanWanted
        rescanWanted = false
        numbers.rescans += 1
        let now = Self.now()
        // Each consecutive rescan waits longer; a quiet minute resets the backoff.
        if now - rescanNotBefore > Self.nanoseconds(60) { rescanBackoff.reset() }
        rescanNotBefore = now + Self.nanoseconds(rescanBackoff.next() / .seconds(1))
        hourlyDue = nil
        if isInDoubt {
            restart()
            scheduleTimers()
            return
        }
        for root in Array(roots.values) {
            if !check(root), root.real != nil, root.mode == .inotify { watchTree(root, "", force: true) }
            emit(.subtree(root: root.spec.name, path: ""), for: root)
        }
        scheduleTimers()
    }

    private func checkSuspects() {
        guard !mayHaveMore else { return }
        let all = suspects
        suspects = []
        for root in all { _ = check(root) }
    }

    /// Removes unneeded watches, now that none of their events can be unread.
    private func putAway() {
        guard !mayHaveMore, !table.orphans.isEmpty else {
            restartIfStale()
            return
        }
        for wd in table.orphans {
            table.retire(wd)
            events.remove(wd)
        }
        retryUnwatchedSoon()
        restartIfStale()
    }

    private func putAwayAll() {
        while events.next() != nil {}
        for wd in table.all {
            table.retire(wd)
            events.remove(wd)
        }
    }

    private func restartIfStale() {
        if events.staleEntries > max(options.staleLimit, table.count) { restart() }
    }

    private func restart() {
        putAwayAll()
        table.clear()
        beginAnew()
    }

    /// Restarts inotify with all watches. If the kernel refuses, everything is polled until it succeeds.
    private func beginAnew() {
        let wasBlind = numbers.blindness != nil
        do {
            try events.restart()
            numbers.restarts += 1
            (numbers.blindness, sightDue) = (nil, nil)
            if wasBlind { say("folders are watched by kernel events again") }
        } catch {
            let pause = roots.values.map(\.spec.pollInterval).min() ?? 30
            sightDue = Self.now() + Self.nanoseconds(pause)
            if wasBlind { return }
            numbers.blindness = explain(error)
            say("\(explain(error)); until then all folders are scanned every \(pause) s")
        }
        for park in parked { park.node?.dissolve() }
        parked = []
        for root in Array(roots.values) {
            let before = root.real
            forgetTree(root)
            root.anchors = [:]
            root.real = nil
            _ = check(root, quiet: true)
            if root.real != before { emit(.rootState(root: root.spec.name), for: root) }
            emit(.subtree(root: root.spec.name, path: ""), for: root)
        }
    }

    func emit(_ marks: DirtyMark..., for root: RootWatch) {
        if let onChange = root.onChange { return onChange() }
        // A reader of this mark asks for the status at once and must not get the old one.
        if case .rootState = marks.first { publish() }
        dirty.insert(marks)
    }

    /// Reports a message for a person; repeated only after a different one.
    func say(_ message: String) {
        guard numbers.lastMessage != message else { return }
        numbers.lastMessage = message
        options.onMessage?(message)
    }

    func publish() {
        var now = numbers
        now.watches = table.count
        now.staleEntries = events.staleEntries
        now.watchLimitHit = !unwatched.isEmpty
        now.roots = roots.values.filter { $0.onChange == nil }.map(describe).sorted { $0.name < $1.name }
        board.status.withLock { $0 = now }
    }

    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Blocks this thread until `due`.
    static func sleep(until due: Int64) {
        Blocking.call()
        // If the kernel refuses, we only wake a little later.
        _ = steward_wake_promptly()
        var time = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
    }

    static func nanoseconds(_ seconds: Double) -> Int64 { Int64(min(seconds, 1e9) * 1e9) }
}
