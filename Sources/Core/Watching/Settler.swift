import Platform

/// Waits until files are whole (docs/design/events.md).
///
/// A file is whole when its inode, size, mtime and ctime have not changed for the settle time, and the kernel reports
/// no writer. If the kernel cannot tell, the settle time alone decides. Nothing runs while nothing is pending.
package actor Settler {
    private var entries: [Key: Entry] = [:]
    /// How many of the entries wait for another process.
    private var held = 0
    private var deadlines = DeadlineHeap<Key, Int64>()
    private var driver: Task<Void, Never>?
    private var sleeper: Task<Void, Never>?
    private var sleepsUntil = Int64.max
    private var results = SettledQueue()
    private var pendingNames = PendingNames()
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var nextWaiter = 0
    private var lastTurn = 0
    private var waitingForRoom: [Int: (limit: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
    private let pool: BlockingPool
    private let width: Int
    private let timeout: Double
    private let settled: @Sendable (_ seconds: Double) -> Void

    private static let mostPending = 8_192
    private static let longestBusyWait = 2.0
    private static let renameGrace = 0.3
    /// How long, in nanoseconds, a thread sleeps until a file is due.
    private static let nap: Int64 = 1_500_000
    private static let longestDownloadWait = 10.0

    /// - Parameters:
    ///   - threads: how many files are examined concurrently.
    ///   - timeout: seconds that a file may be missing while a backup or lock file next to it promises its return.
    ///   - settled: called for each whole file with the time since it was first reported.
    package init(
        threads width: Int = 4, timeout: Double = 60,
        settled: @escaping @Sendable (_ seconds: Double) -> Void = { _ in }
    ) {
        self.settled = settled
        Lease.ignoreBreakSignal()
        self.width = max(1, width)
        self.timeout = timeout
        pool = BlockingPool("settle", threads: width, perBulkhead: true)
    }

    deinit {
        driver?.cancel()
        sleeper?.cancel()
    }

    /// Starts waiting for a file, or restarts the wait if it is already pending.
    ///
    /// - Parameters:
    ///   - path: relative to the root.
    ///   - settle: how many seconds it must be unchanged.
    ///   - alreadyStill: a scan found it; if its times are older than `settle`, it need not be watched that long again.
    ///   - isBacklog: a scan of the whole place found it; files with events come first.
    ///   - named: when it was reported, if earlier than now (``DirtySet/Batch/entered``).
    package func add(
        root: WatchRoot, path: BytePath, settle: Double, alreadyStill: Bool = false, isBacklog: Bool = false,
        named: Int64? = nil
    ) {
        let key = Key(root: root.name, path: path)
        let now = WatchLoop.now()
        let named = named ?? now
        var entry =
            entries[key]
            ?? Entry(
                top: root.path, since: named, named: named, settle: settle, alreadyStill: alreadyStill,
                isBacklog: isBacklog)
        entry.top = root.path
        entry.settle = max(0, settle)
        entry.alreadyStill = alreadyStill
        entry.isBacklog = entry.isBacklog && isBacklog
        // Require most of the settle time to be observed: before that, only its own times say that it was unchanged.
        entry.named = max(entry.named, named, now - WatchLoop.nanoseconds(entry.settle / 4))
        lastTurn += 1
        entry.turn = lastTurn
        entries[key] = entry
        schedule(key, after: 0)
    }

    /// Like `add`, unless the file is not pending and too many others are; then it must be offered again later.
    ///
    /// - Returns: whether it is pending now.
    package func offer(root: WatchRoot, path: BytePath, settle: Double, named: Int64? = nil) -> Bool {
        guard load < Self.mostPending || entries[Key(root: root.name, path: path)] != nil else { return false }
        add(root: root, path: path, settle: settle, named: named)
        return true
    }

    /// Like `offer` for one file, for many at once.
    ///
    /// - Returns: those for which there was no room.
    package func offer(
        root: WatchRoot, _ files: [(path: BytePath, settle: Double)], named: Int64? = nil
    ) -> [BytePath] {
        files.compactMap { offer(root: root, path: $0.path, settle: $0.settle, named: named) ? nil : $0.path }
    }

    /// Files that are settling or waiting to be fetched, except those that wait for another process.
    package var load: Int { entries.count - held + results.waiting }

    /// Suspends until fewer than `limit` files are settling or waiting to be fetched, not counting those that wait for
    /// another process. Ends with the task.
    package func room(below limit: Int) async {
        while load >= limit, !Task.isCancelled { await suspend(untilBelow: limit) }
    }

    /// Suspends until there is room, or without a limit until there are results. Ends with the task.
    private func suspend(untilBelow limit: Int?) async {
        nextWaiter += 1
        let ticket = nextWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume() }
                if let limit { waitingForRoom[ticket] = (limit, continuation) } else { waiting[ticket] = continuation }
            }
        } onCancel: {
            Task { await self.release(ticket) }
        }
    }

    private func tellOfRoom() {
        for (ticket, waiter) in waitingForRoom where load < waiter.limit {
            waitingForRoom[ticket] = nil
            waiter.continuation.resume()
        }
    }

    /// A snapshot of the files that were settling or settled; a caller can wait for these regardless of later ones.
    package struct Crowd: Sendable {
        fileprivate var members: [Key: Fingerprint?]

        package var paths: [BytePath] { members.keys.map(\.path) }
        package var count: Int { members.count }
    }

    /// All files that are settling, or waiting to be fetched or acknowledged, except those that are missing or wait for
    /// another process.
    package func crowd() -> Crowd {
        var members: [Key: Fingerprint?] = entries.filter { $0.value.waitingFor == .quiet }.mapValues(\.seen)
        for key in results.keys { members[key] = .some(nil) }
        return Crowd(members: members)
    }

    /// Those of `crowd` that are still unfinished. Files written again since are dropped: a writer may never stop.
    package func remaining(of crowd: Crowd) -> Crowd {
        var members: [Key: Fingerprint?] = [:]
        for (key, seen) in crowd.members {
            if let entry = entries[key] {
                if entry.waitingFor == .quiet, seen == nil || entry.seen == seen { members[key] = .some(entry.seen) }
            } else if results.keys.contains(key) {
                members[key] = .some(seen)
            }
        }
        return Crowd(members: members)
    }

    /// Drops everything pending for a root that is no longer watched.
    package func forget(root: String) {
        for (key, entry) in entries where key.root == root {
            pendingNames.set(key, entry.seen, nil)
            entries[key] = nil
            deadlines.remove(key)
        }
        held = entries.values.count(where: \.waitsForOthers)
        tellOfRoom()
    }

    /// The next settled files, backlog last. Suspends (without polling) until there are some; empty only if the task is
    /// cancelled.
    package func next() async -> [Settled] {
        while results.waiting == 0 {
            if Task.isCancelled { return [] }
            await suspend(untilBelow: nil)
        }
        acknowledge()
        let batch = results.take()
        tellOfRoom()
        return batch
    }

    /// Marks the result of ``next()`` as handled; so does the next call of ``next()``.
    package func acknowledge() {
        for file in results.acknowledge() {
            let key = Key(file)
            if entries[key] == nil, case .whole(_, _, let status, _) = file {
                pendingNames.set(key, status.fingerprint, nil)
            }
        }
    }

    /// Whether nothing is settling or waiting to be fetched, and everything fetched has been acknowledged.
    package var isIdle: Bool { entries.isEmpty && results.keys.isEmpty }

    /// Files that have not settled, in no order.
    package func pending() -> [Unsettled] {
        entries.map { Unsettled(root: $0.key.root, path: $0.key.path, waitingFor: $0.value.waitingFor) }
    }

    /// Whether a file in the folder is settling or waiting to be fetched.
    package func isPending(within folder: BytePath, of root: String) -> Bool {
        entries.keys.contains { $0.root == root && $0.path.isWithin(folder) }
            || results.keys.contains { $0.root == root && $0.path.isWithin(folder) }
    }

    /// Whether a file is settling, or waiting to be fetched or acknowledged.
    package func isPending(_ path: BytePath, of root: String) -> Bool {
        let key = Key(root: root, path: path)
        return entries[key] != nil || results.keys.contains(key)
    }

    /// The name under which a file of this inode is settling, or waiting to be fetched or acknowledged; nil if none.
    ///
    /// - Parameter soon: leave out files that wait for another process.
    package func name(of file: Fingerprint, in root: String, soon: Bool = false) -> BytePath? {
        guard let name = pendingNames.name(of: file, in: root) else { return nil }
        return soon && entries[Key(root: root, path: name)]?.waitsForOthers == true ? nil : name
    }

    /// Whether a file is settling: it has been reported again since its last result.
    package func isSettling(_ path: BytePath, of root: String) -> Bool {
        entries[Key(root: root, path: path)] != nil
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

    /// Examines the due files, or sleeps until one is due. False once nothing is pending.
    private func step() async -> Bool {
        guard let (key, due) = deadlines.first() else {
            driver = nil
            return false
        }
        let now = WatchLoop.now()
        if due > now, due - now <= Self.nap {
            await lookAt(key, at: due)
            return !Task.isCancelled
        }
        if due > now {
            sleepsUntil = due - Self.nap
            // An earlier deadline cancels the sleep to wake us.
            let sleep = Task { _ = try? await Task.sleep(for: .nanoseconds(due - Self.nap - now)) }
            sleeper = sleep
            await sleep.value
            sleeper = nil
            sleepsUntil = .max
            return !Task.isCancelled
        }
        await lookAt(deadlines.dequeue(upTo: now, limit: 1_024))
        return !Task.isCancelled
    }

    /// Examines a file on the thread that waits until it is due; any other wake-up costs three thread switches. Files
    /// that become due earlier wait along, but only briefly.
    private func lookAt(_ key: Key, at due: Int64) async {
        guard let entry = entries[key] else {
            deadlines.remove(key)
            return
        }
        let finding: Finding
        do {
            finding = try await pool.run {
                WatchLoop.sleep(until: due)
                return Self.look(key.path, entry, OpenRoots())
            }
        } catch {
            // Earlier looks at this place have not returned.
            finding = .saw(.unknown, replacing: false)
        }
        guard entries[key]?.turn == entry.turn else { return }
        deadlines.remove(key)
        apply(finding, key)
    }

    private func lookAt(_ due: [Key]) async {
        let questions = due.compactMap { key in entries[key].map { (key: key, entry: $0) } }
        guard !questions.isEmpty else { return }
        let size = max(16, (questions.count + width - 1) / width)
        let pool = self.pool
        await withTaskGroup(of: [(Key, Int, Finding)].self) { group in
            for start in stride(from: 0, to: questions.count, by: size) {
                let part = questions[start..<min(start + size, questions.count)]
                group.addTask {
                    let look: @Sendable () throws -> [(Key, Int, Finding)] = {
                        let roots = OpenRoots()
                        return part.map { ($0.key, $0.entry.turn, Self.look($0.key.path, $0.entry, roots)) }
                    }
                    do {
                        return try await pool.run(look)
                    } catch {
                        // Earlier looks at this place have not returned.
                        return part.map { ($0.key, $0.entry.turn, .saw(.unknown, replacing: false)) }
                    }
                }
            }
            for await findings in group {
                for (key, turn, finding) in findings where entries[key]?.turn == turn { apply(finding, key) }
            }
        }
    }

    private func apply(_ finding: Finding, _ key: Key) {
        guard var entry = entries[key] else { return }
        let (wasHeld, before) = (entry.waitsForOthers, entry.seen)
        var wait = entry.settle
        switch finding {
        case .whole(let status):
            finish(key, .whole(root: key.root, path: key.path, status: status, isBacklog: entry.isBacklog))
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
            if entry.seen != status.fingerprint {
                entry.quietSince = Self.stillSince(status.fingerprint, named: entry.named, now: now)
            }
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
                // A renamed file settles under its new name first.
                let over = away >= WatchLoop.nanoseconds(entry.settle + Self.renameGrace)
                if over, !replacing || away >= WatchLoop.nanoseconds(timeout) {
                    finish(key, .gone(root: key.root, path: key.path))
                    return
                }
                wait = over ? 0.5 : Double(WatchLoop.nanoseconds(entry.settle + Self.renameGrace) - away) / 1e9
            } else {
                entry.goneSince = now
                // If it returns earlier, there is an event.
                wait = entry.settle + Self.renameGrace
            }
        }
        pendingNames.set(key, before, entry.seen)
        entries[key] = entry
        held += (entry.waitsForOthers ? 1 : 0) - (wasHeld ? 1 : 0)
        if held > 0 { tellOfRoom() }
        schedule(key, after: wait)
    }

    private func finish(_ key: Key, _ result: Settled) {
        let entry = entries.removeValue(forKey: key)
        if entry?.waitsForOthers == true { held -= 1 }
        var seen: Fingerprint?
        if let entry, case .whole(_, _, let status, _) = result {
            settled(Double(WatchLoop.now() - entry.since) / 1e9)
            seen = status.fingerprint
        }
        pendingNames.set(key, entry?.seen, seen)
        deadlines.remove(key)
        // Give back the memory of a burst: a dictionary never shrinks on its own.
        if entries.isEmpty { entries = [:] }
        results.append(result)
        for waiter in waiting.values { waiter.resume() }
        waiting = [:]
    }
}
