import Glibc
import Platform

/// A file of which a statement can be made.
package enum Settled: Sendable {
    /// A regular file that stands still and that nobody writes to; its status at that moment.
    case whole(root: String, path: BytePath, status: FileStatus)
    /// No regular file has this name, and not just for the moment of a save.
    case gone(root: String, path: BytePath)
}

/// A file that is not settled yet.
package struct Unsettled: Sendable, Equatable {
    package enum Reason: String, Sendable {
        /// It changed less than its settle time ago.
        case quiet = "standing still"
        /// A process has it open for writing.
        case writer = "its writer to close it"
        /// It is not there; an editor may be about to bring it back.
        case absent = "its return"
        case readable = "access to it"
        /// What lies beside it shows that it is yet to be filled.
        case download = "its download to end"
        /// Something is yet to be done with what lies in it.
        case jobs = "the jobs of what lies in it"
    }

    package var root: String
    package var path: BytePath
    package var waitingFor: Reason
}

/// Waits until files are whole (docs/design/events.md).
///
/// A file is whole when it stood still (inode, size, mtime, ctime) for its settle time and the kernel says that nobody
/// has it open for writing; where it will not say, the settle time alone decides. Nothing runs while nothing is pending.
package actor Settler {
    fileprivate struct Key: Hashable, Sendable {
        let root: String
        let path: BytePath
    }

    private struct Entry {
        var top: BytePath
        /// When it was first named.
        let since: Int64
        var settle: Double
        var alreadyStill: Bool
        var seen: Fingerprint?
        /// Since when it has been seen unchanged.
        var quietSince: Int64 = 0
        var goneSince: Int64?
        var busyFor: Double = 0
        var waitingFor: Unsettled.Reason = .quiet
        /// Goes up when the file is named again, so that an answer on its way is not taken for the newer question.
        var turn = 0

        /// Whether it waits for somebody, who may take for ever.
        var waitsForOthers: Bool { waitingFor != .quiet && waitingFor != .absent }
    }

    /// What a look on a lane found.
    private enum Finding: Sendable {
        case saw(FileProbe.Seen, replacing: Bool)
        case whole(FileStatus)
        case busy(FileStatus)
        case downloading(FileStatus)
        case changed
    }

    private var entries: [Key: Entry] = [:]
    /// Of those, how many wait for somebody else.
    private var held = 0
    private var deadlines = DeadlineHeap<Key, Int64>()
    private var driver: Task<Void, Never>?
    private var sleeper: Task<Void, Never>?
    private var sleepsUntil = Int64.max
    /// What was fetched and has not been acknowledged.
    private var handedOut: [Settled] = []
    private var ready: [Settled] = []
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var nextWaiter = 0
    private var waitingForRoom: [Int: (limit: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
    private let lanes: BlockingLanes
    private let width: Int
    private let patience: Double
    private let settled: @Sendable (_ seconds: Double) -> Void

    private static let batch = 512
    private static let mostPending = 16_384
    private static let longestBusyWait = 2.0
    private static let renameGrace = 0.3
    private static let longestDownloadWait = 10.0

    /// - Parameters:
    ///   - lanes: how many files may be looked at at the same time.
    ///   - patience: seconds that a file may be away while a backup or lock file beside it promises its return.
    ///   - settled: told of each file that is whole, how long that took from its first being named.
    package init(
        lanes width: Int = 4, patience: Double = 60, settled: @escaping @Sendable (_ seconds: Double) -> Void = { _ in }
    ) {
        self.settled = settled
        Lease.ignoreBreakSignal()
        self.width = max(1, width)
        self.patience = patience
        lanes = BlockingLanes("settle", count: width, apart: true)
    }

    deinit {
        driver?.cancel()
        sleeper?.cancel()
    }

    /// Begins to wait for one file, or begins anew if it is pending.
    ///
    /// - Parameters:
    ///   - path: relative to the root.
    ///   - settle: seconds for which it must stand still.
    ///   - alreadyStill: a scan found it: if its times are older than `settle` it need not be watched for so long again.
    package func add(root: WatchRoot, path: BytePath, settle: Double, alreadyStill: Bool = false) {
        let key = Key(root: root.name, path: path)
        var entry =
            entries[key]
            ?? Entry(top: root.path, since: WatchLoop.now(), settle: settle, alreadyStill: alreadyStill)
        entry.top = root.path
        entry.settle = max(0, settle)
        entry.alreadyStill = alreadyStill
        entry.turn += 1
        entries[key] = entry
        schedule(key, after: 0)
    }

    /// The same, unless the file is not pending and so many are that it has to be named again later.
    ///
    /// - Returns: whether it is pending now.
    package func offer(root: WatchRoot, path: BytePath, settle: Double) -> Bool {
        guard load < Self.mostPending || entries[Key(root: root.name, path: path)] != nil else { return false }
        add(root: root, path: path, settle: settle)
        return true
    }

    /// The same for many at once.
    ///
    /// - Returns: those for which there was no room.
    package func offer(root: WatchRoot, _ files: [(path: BytePath, settle: Double)]) -> [BytePath] {
        files.compactMap { offer(root: root, path: $0.path, settle: $0.settle) ? nil : $0.path }
    }

    /// Files that settle or wait to be fetched, but for those that wait for somebody else.
    package var load: Int { entries.count - held + ready.count }

    /// Waits until fewer than `limit` files settle or wait to be fetched, those apart that wait for somebody else. Ends with
    /// the task.
    package func room(below limit: Int) async {
        while load >= limit, !Task.isCancelled {
            nextWaiter += 1
            let ticket = nextWaiter
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if Task.isCancelled {
                        continuation.resume()
                    } else {
                        waitingForRoom[ticket] = (limit, continuation)
                    }
                }
            } onCancel: {
                Task { await self.release(ticket) }
            }
        }
    }

    private func tellOfRoom() {
        for (ticket, waiter) in waitingForRoom where load < waiter.limit {
            waitingForRoom[ticket] = nil
            waiter.continuation.resume()
        }
    }

    /// Those files of one moment that were about to settle, or had settled: they can be waited for whatever comes later.
    package struct Crowd: Sendable {
        fileprivate var members: [Key: Fingerprint?]

        package var paths: [BytePath] { members.keys.map(\.path) }
        package var count: Int { members.count }
    }

    /// All that settle now or wait to be fetched and acknowledged, but for those that are not there or wait for somebody
    /// else.
    package func crowd() -> Crowd {
        var members: [Key: Fingerprint?] = entries.filter { $0.value.waitingFor == .quiet }.mapValues(\.seen)
        for key in settledKeys { members[key] = .some(nil) }
        return Crowd(members: members)
    }

    /// Those of `crowd` that still do. What has been written since is not waited for: somebody may write for ever.
    package func remaining(of crowd: Crowd) -> Crowd {
        let settled = settledKeys
        var members: [Key: Fingerprint?] = [:]
        for (key, seen) in crowd.members {
            if let entry = entries[key] {
                if entry.waitingFor == .quiet, seen == nil || entry.seen == seen { members[key] = .some(entry.seen) }
            } else if settled.contains(key) {
                members[key] = .some(seen)
            }
        }
        return Crowd(members: members)
    }

    private var settledKeys: Set<Key> {
        Set(
            (ready + handedOut).map { settled in
                switch settled {
                case .whole(let root, let path, _), .gone(let root, let path): Key(root: root, path: path)
                }
            })
    }

    /// Forgets what is pending for a root that is no longer watched.
    package func forget(root: String) {
        for key in entries.keys where key.root == root {
            entries[key] = nil
            deadlines.remove(key)
        }
        held = entries.values.count(where: \.waitsForOthers)
        tellOfRoom()
    }

    /// The next files that are settled, waiting (without polling) until there are some; empty only when the task is
    /// cancelled.
    package func next() async -> [Settled] {
        while ready.isEmpty {
            if Task.isCancelled { return [] }
            nextWaiter += 1
            let ticket = nextWaiter
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if Task.isCancelled { continuation.resume() } else { waiting[ticket] = continuation }
                }
            } onCancel: {
                Task { await self.release(ticket) }
            }
        }
        let batch = Array(ready.prefix(Self.batch))
        ready.removeFirst(batch.count)
        if ready.isEmpty { ready = [] }
        handedOut = batch
        tellOfRoom()
        return batch
    }

    /// Says that what ``next()`` gave has been seen to.
    package func acknowledge() { handedOut = [] }

    /// Whether nothing settles or waits to be fetched, and what was fetched has been acknowledged.
    package var isIdle: Bool { entries.isEmpty && ready.isEmpty && handedOut.isEmpty }

    /// What is not settled yet, in no order.
    package func pending() -> [Unsettled] {
        entries.map { Unsettled(root: $0.key.root, path: $0.key.path, waitingFor: $0.value.waitingFor) }
    }

    package var pendingCount: Int { entries.count }

    /// Whether something settles in a folder, or waits to be fetched.
    package func isPending(within folder: BytePath, of root: String) -> Bool {
        entries.keys.contains { $0.root == root && $0.path.isWithin(folder) }
            || settledKeys.contains { $0.root == root && $0.path.isWithin(folder) }
    }

    private func release(_ ticket: Int) {
        waiting.removeValue(forKey: ticket)?.resume()
        waitingForRoom.removeValue(forKey: ticket)?.continuation.resume()
    }

    private func schedule(_ key: Key, after seconds: Double) {
        let due = WatchLoop.now() + WatchLoop.nanoseconds(seconds)
        deadlines.set(key, due: due)
        if driver == nil {
            driver = Task { [weak self] in
                while let self, await self.step() {}
            }
        } else if due < sleepsUntil {
            sleeper?.cancel()
            sleepsUntil = due
        }
    }

    /// Looks at what is due, or sleeps until something is. False when nothing is pending any more.
    private func step() async -> Bool {
        guard let earliest = deadlines.earliest() else {
            driver = nil
            return false
        }
        let now = WatchLoop.now()
        if earliest > now {
            sleepsUntil = earliest
            // Cancelling it is how an earlier deadline wakes us.
            let sleep = Task { _ = try? await Task.sleep(for: .nanoseconds(earliest - now)) }
            sleeper = sleep
            await sleep.value
            sleeper = nil
            sleepsUntil = .max
            return !Task.isCancelled
        }
        await lookAt(deadlines.dequeue(upTo: now, limit: 1_024))
        return !Task.isCancelled
    }

    private func lookAt(_ due: [Key]) async {
        let questions = due.compactMap { key in entries[key].map { (key: key, entry: $0) } }
        guard !questions.isEmpty else { return }
        let size = max(16, (questions.count + width - 1) / width)
        let lanes = self.lanes
        await withTaskGroup(of: [(Key, Int, Finding)].self) { group in
            for start in stride(from: 0, to: questions.count, by: size) {
                let part = questions[start..<min(start + size, questions.count)]
                group.addTask {
                    let look: @Sendable () throws -> [(Key, Int, Finding)] = {
                        let roots = OpenRoots()
                        return part.map { ($0.key, $0.entry.turn, Self.look($0.key.path, $0.entry, roots)) }
                    }
                    do {
                        return try await lanes.run(look)
                    } catch {
                        // The place's earlier looks have not returned.
                        return part.map { ($0.key, $0.entry.turn, .saw(.unknown, replacing: false)) }
                    }
                }
            }
            for await findings in group {
                for (key, turn, finding) in findings where entries[key]?.turn == turn { apply(finding, key) }
            }
        }
    }

    /// Runs on a lane.
    private static func look(_ path: BytePath, _ entry: Entry, _ roots: OpenRoots) -> Finding {
        let files = roots.files(below: entry.top)
        let file = entry.top.appending(path)
        let seen = FileProbe.look(file, files)
        guard case .file(let status) = seen else {
            return .saw(seen, replacing: entry.goneSince != nil && FileProbe.isBeingReplaced(file, files))
        }
        let quiet = WatchLoop.now() - entry.quietSince >= WatchLoop.nanoseconds(entry.settle)
        let still =
            entry.seen == status.fingerprint ? quiet : entry.seen == nil && entry.alreadyStill && isOld(status, entry)
        guard still else { return .saw(seen, replacing: false) }
        if roots.isBeingDownloaded(file, status, files) { return .downloading(status) }
        switch FileProbe.writers(file, status.fingerprint, files) {
        case .none: return .whole(status)
        case .busy: return .busy(status)
        case .changed: return .changed
        }
    }

    private static func isOld(_ status: FileStatus, _ entry: Entry) -> Bool {
        let newest = max(status.fingerprint.modified, status.fingerprint.changed)
        return Timestamp.now().nanoseconds - newest >= WatchLoop.nanoseconds(entry.settle)
    }

    private func apply(_ finding: Finding, _ key: Key) {
        guard var entry = entries[key] else { return }
        let wasHeld = entry.waitsForOthers
        var wait = entry.settle
        switch finding {
        case .whole(let status):
            finish(key, .whole(root: key.root, path: key.path, status: status))
            return
        case .busy(let status), .downloading(let status):
            if entry.seen != status.fingerprint { entry.quietSince = WatchLoop.now() }
            entry.seen = status.fingerprint
            let isDownload = if case .downloading = finding { true } else { false }
            entry.waitingFor = isDownload ? .download : .writer
            let longest = isDownload ? Self.longestDownloadWait : Self.longestBusyWait
            entry.busyFor = min(longest, max(0.05, entry.busyFor * 2))
            wait = entry.busyFor
        case .changed:
            entry.seen = nil
            wait = 0.01
        case .saw(.file(let status), _):
            let now = WatchLoop.now()
            if entry.seen != status.fingerprint { entry.quietSince = now }
            entry.seen = status.fingerprint
            entry.goneSince = nil
            entry.busyFor = 0
            entry.waitingFor = .quiet
            wait = entry.settle - Double(now - entry.quietSince) / 1e9
        case .saw(.unknown, _):
            entry.waitingFor = .readable
            entry.busyFor = min(60, max(1, entry.busyFor * 2))
            wait = entry.busyFor
        case .saw(.nothing, let replacing):
            let now = WatchLoop.now()
            entry.seen = nil
            entry.waitingFor = .absent
            if let since = entry.goneSince {
                let away = now - since
                // A file that was renamed settles under its new name first.
                let over = away >= WatchLoop.nanoseconds(entry.settle + Self.renameGrace)
                if over, !replacing || away >= WatchLoop.nanoseconds(patience) {
                    finish(key, .gone(root: key.root, path: key.path))
                    return
                }
                wait = over ? 0.5 : Double(WatchLoop.nanoseconds(entry.settle + Self.renameGrace) - away) / 1e9
            } else {
                entry.goneSince = now
                // If it comes back before, an event says so.
                wait = entry.settle + Self.renameGrace
            }
        }
        entries[key] = entry
        held += (entry.waitsForOthers ? 1 : 0) - (wasHeld ? 1 : 0)
        if held > 0 { tellOfRoom() }
        schedule(key, after: wait)
    }

    private func finish(_ key: Key, _ result: Settled) {
        let entry = entries.removeValue(forKey: key)
        if entry?.waitsForOthers == true { held -= 1 }
        if let entry, case .whole = result { settled(Double(WatchLoop.now() - entry.since) / 1e9) }
        deadlines.remove(key)
        // What a burst has taken is given back: a dictionary never shrinks by itself.
        if entries.isEmpty { entries = [:] }
        ready.append(result)
        for waiter in waiting.values { waiter.resume() }
        waiting = [:]
    }
}
