import Ledger
import Logging
import Platform
import Rules
import Watching

/// A place's own share of the ``Pipeline``.
///
/// Memory stays bounded however many files arrive at once: marks collapse, and a place is scanned only as fast as its
/// files settle and are judged.
struct PlaceIntake {
    let root: WatchRoot
    let settler: Settler
    /// Waits until whole folders settle; nil while no rule is about folders.
    var folders: FolderSettler?
    /// Folders to be scanned, and files that the settler had no room for.
    let marks = DirtySet()
    /// Processes the marks; nil while there are none.
    var looking: Task<Void, Never>?
    /// How many files are judged at the same time.
    let judging = AsyncSemaphore(permits: 128)
    /// How many files may wait for a content worker; beyond that, the place's other files wait too.
    let inside = AsyncSemaphore(permits: 8_192)
    /// Large files are read one at a time, in order of arrival.
    let reading = AsyncSemaphore(permits: 1)

    /// How many files a scan finds before it checks for room.
    static let part = 1_024
    /// A scan continues while fewer files than this are settling or waiting to be judged. Enough to keep the judge
    /// busy, and few compared with the settler's capacity for events, which must never wait for a long scan.
    static let room = 2_048

    /// Missing files may be reported once fewer files than this are unjudged: those are judged before the missing ones
    /// settle.
    static let few = 16

    init(_ root: WatchRoot, settled: @escaping @Sendable (_ seconds: Double) -> Void) {
        self.root = root
        settler = Settler(settled: settled)
    }
}

/// From marks to settling files.
extension Pipeline {
    func readMarks() async {
        while !isStopped, !Task.isCancelled {
            let batch = await source.dirty.next()
            let marks = batch.marks
            if marks.isEmpty { return }
            marksTaken += marks.count
            var files: [String: [BytePath]] = [:]
            for mark in marks {
                if case .file(let root, let path) = mark { files[root, default: []].append(path) }
            }
            for mark in marks { await handle(mark) }
            for (root, paths) in files { await settleSoon(root, paths, named: batch.entered) }
            source.dirty.acknowledge()
        }
    }

    private func handle(_ mark: DirtyMark) async {
        switch mark {
        case .file:
            // Marks of a batch are handled together.
            break
        case .renamed(let root, let from, let toRoot, let to):
            // The old name is judged together with the new one, unless that is ignored or in another place.
            let isSeenUnderNew = !ignore.ignores(to.name)
            if root == toRoot, isSeenUnderNew { movedIn.rename(Key(root: root, path: from), to: to) }
            if root != toRoot || !isSeenUnderNew { await settleSoon(root, [from]) }
            guard isSeenUnderNew else { return }
            if root != toRoot { return await settleSoon(toRoot, [to]) }
            await inflows[root]?.folders?.rename(from, to: to)
            await touchFolders(root, above: [from, to])
            let hasNew = await offer(root, to)
            // Only once the new name is settling: until then, the file may be expected under the old one.
            noteRename(root, from, to)
            let hasOld = await offer(root, from, extra: Self.renamedExtra)
            if !hasNew || !hasOld { lookLater(root, mark) }
            // It is noted again when there is room for it.
            if !hasOld { givenUp.forget(Key(root: root, path: from)) }
        case .movedIn(let root, let path, let isFolder):
            // Its own mark follows. A name that is never judged is not noted: nothing would remove the note.
            if isNews(path) { movedIn.add(Key(root: root, path: path), isFolder: isFolder) }
        case .subtree(let root, _):
            lookLater(root, mark)
        case .rootState(let root):
            if let status = source.status().roots.first(where: { $0.name == root }), !status.present {
                log.warning(
                    "the place \(root) (\(status.path)) does not exist; the agent waits for it",
                    metadata: [LogFields.place: "\(root)"])
                away.insert(root)
                changed()
                firstScans.remove(root)
                surveys[root]?.isScanned = false
                core.journal.surveyed.remove(root)
            }
        }
    }

    /// Extra seconds to wait for a name that may just have been renamed.
    private static let renamedExtra = 1.5

    /// A name that is never judged is not noted: nothing would remove the note.
    private func noteRename(_ name: String, _ from: BytePath, _ to: BytePath) {
        if isNews(from) { givenUp.add(Key(root: name, path: from), to) }
    }

    /// Whether it is too early to judge the old name of a renamed file. Until the file has been judged under its new
    /// name, the old one does not count as gone: the ledger finds the file's record by the old name and moves it.
    func isElsewhere(_ settled: Settled, _ key: Key, _ settler: Settler) async -> Bool {
        guard let name = givenUp.name(of: key) else {
            guard case .gone = settled, await isYetToBeJudgedElsewhere(key) else { return false }
            await settle(key.root, key.path, extra: Self.renamedExtra)
            return true
        }
        switch settled {
        case .whole:
            // This is the state before the rename; the current state comes later.
            if await settler.isSettling(key.path, of: key.root) { return true }
        case .gone:
            var isPending = inJudgement.contains(Key(root: key.root, path: name))
            if !isPending { isPending = await settler.isPending(name, of: key.root) }
            if isPending {
                await settle(key.root, key.path, extra: Self.renamedExtra)
                return true
            }
        }
        // Unless it was renamed again in the meantime.
        if givenUp.name(of: key) == name { givenUp.forget(key) }
        return false
    }

    /// Whether a missing file will be judged under another name that no event has reported: its folder was renamed, or
    /// a scan found both. If the old name were judged as gone first, the file's history would be lost.
    private func isYetToBeJudgedElsewhere(_ key: Key) async -> Bool {
        do {
            guard let place = core.places[name: key.root],
                let known = try await core.ledger.read({ try $0.file(key.root, key.path) }), known.present
            else { return false }
            guard let name = await unjudgedName(of: known.fingerprint, in: key.root), name != key.path else {
                return false
            }
            return try await core.judge.isNow(name, known, in: place)
        } catch {
            log.debug(
                "cannot find out where a file has gone: \(explain(error))", metadata: [LogFields.place: "\(key.root)"])
            return false
        }
    }

    /// The name under which a file of a place is still to be judged. nil if there is none, or if the file came from
    /// outside and so has no history here.
    ///
    /// - Parameter soon: ignores files that are open for writing, which may last for hours.
    func unjudgedName(of file: Fingerprint, in root: String, soon: Bool = false) async -> BytePath? {
        let judged = filesInJudgement.first { other, print in
            other.root == root && print.inode == file.inode && print.device == file.device
        }
        var name = judged?.key.path
        if name == nil { name = await inflows[root]?.settler.name(of: file, in: root, soon: soon) }
        guard let name, !movedIn.contains(Key(root: root, path: name)) else { return nil }
        return name
    }

    /// Lets files settle after events. If too many are settling already, they wait until there is room.
    ///
    /// - Parameter named: the time of the events, if it is not now.
    private func settleSoon(_ name: String, _ paths: [BytePath], named: Int64? = nil) async {
        guard let inflow = inflows[name] else { return }
        await touchFolders(name, above: paths)
        let news = paths.filter(isNews).map { (path: $0, settle: settleTime(name, $0)) }
        for path in await inflow.settler.offer(root: inflow.root, news, named: named) {
            lookLater(name, .file(root: name, path: path))
        }
    }

    /// - Returns: whether there was room, or the file is ignored.
    private func offer(_ name: String, _ path: BytePath, extra: Double = 0) async -> Bool {
        guard let inflow = inflows[name], isNews(path) else { return true }
        return await inflow.settler.offer(root: inflow.root, path: path, settle: settleTime(name, path) + extra)
    }

    func settle(
        _ name: String, _ path: BytePath, extra: Double = 0, still: Bool = false, isBacklog: Bool = false
    ) async {
        guard let inflow = inflows[name], isNews(path) else { return }
        await inflow.settler.add(
            root: inflow.root, path: path, settle: settleTime(name, path) + extra, alreadyStill: still,
            isBacklog: isBacklog)
    }

    /// A token represents a hidden file that is gone.
    private func isNews(_ path: BytePath) -> Bool { HiddenNames.isToken(path) || !ignore.ignores(anyPartOf: path) }

    private func settleTime(_ place: String, _ path: BytePath) -> Double {
        core.planner.ruleSet.settleTime(place: place, name: path.name) ?? core.configuration.settle
    }

    /// Has a place scanned, as after an event.
    package func lookThrough(_ place: PlaceInfo) { source.dirty.insert(.subtree(root: place.name, path: "")) }

    private func lookLater(_ name: String, _ mark: DirtyMark) {
        guard let inflow = inflows[name] else { return }
        inflow.marks.insert(mark)
        guard inflow.looking == nil else { return }
        inflows[name]?.looking = Task {
            await Bulkhead.$current.withValue(.place(name)) { await self.lookAtMarks(name, inflow) }
        }
    }

    /// - Parameter besidesWhole: called during a scan of the whole place; another full scan is postponed until that one
    ///   ends.
    private func lookAtMarks(_ name: String, _ inflow: PlaceIntake, besidesWhole: Bool = false) async {
        while !isStopped {
            let marks = inflow.marks.drain().marks
            if marks.isEmpty { break }
            var putOff: [DirtyMark] = []
            for mark in marks where !isStopped {
                await inflow.settler.room(below: PlaceIntake.room)
                switch mark {
                case .file(_, let path): await settle(name, path)
                case .renamed(_, let from, _, let to):
                    await settle(name, to)
                    noteRename(name, from, to)
                    await settle(name, from, extra: Self.renamedExtra)
                case .subtree(_, ""): if besidesWhole { putOff.append(mark) } else { await scan(name, inflow, "") }
                case .subtree(_, let path): await scan(name, inflow, path)
                case .rootState, .movedIn: continue
                }
            }
            guard putOff.isEmpty else {
                // The postponed scan will cover everything that arrived since.
                inflow.marks.insert(putOff)
                break
            }
        }
        // In the same actor turn in which there was no mark: a mark added later starts a new task.
        if !besidesWhole { inflows[name]?.looking = nil }
    }

    /// Checks whether the place is there, and if so resumes the jobs that wait for it.
    ///
    /// - Parameter anew: whether a scan of the whole place follows.
    /// - Returns: false if another agent is using the place.
    private func look(at root: WatchRoot, anew: Bool) async throws -> Bool {
        guard let place = core.places[name: root.name] else { return true }
        let presence = core.journal.presence
        switch try await scanPool.run({ try presence.look(at: place, anew: anew) }) {
        case .missing: return true
        case .inUse:
            standBack(from: root.name)
            return false
        case .other:
            guard away.insert(root.name).inserted else { return true }
            log.warning(
                "the place \(root.name) is away: \(StatusReport.other(place.root, place.name))",
                metadata: [LogFields.place: "\(root.name)"])
            changed()
        case .here:
            // Before anything is done with the ledger's hidden files there.
            let core = core
            let isLearned = core.ledger.names.isLearned(root.name)
            if !isLearned { try await scanPool.run { try core.learnHiddenNames(of: place) } }
            let isNewlyLearned = !isLearned && core.ledger.names.isLearned(root.name)
            // Only now can hidden files count as gone, wherever they were.
            if isNewlyLearned, !anew { lookThrough(place) }
            if away.remove(root.name) != nil {
                log.notice("the place \(root.name) is available again", metadata: [LogFields.place: "\(root.name)"])
                changed()
            } else if !anew, !isNewlyLearned {
                return true
            }
            try await goOn(in: place)
        }
        return true
    }

    /// Resumes work that waited for the place, or for the names of its hidden files.
    func goOn(in place: PlaceInfo) async throws {
        do {
            try await core.quarantine.recover(log, again: true)
            try await runner.takeUp()
        } catch {
            log.error("work that waited for the place \(place.name) cannot be resumed completely: \(explain(error))")
        }
        let waiting = try await core.ledger.read { transaction in
            try transaction.waitingJobs(problem: PlacePresence.awayMessage(place))
                + transaction.waitingJobs(problem: PlacePresence.inUseMessage(place))
                + transaction.waitingJobs(problem: HiddenNames.unlearnedMessage(place.name))
        }
        await runner.submit(waiting.map { ($0.id, $0.place, $0.path) })
        // Handle what became due there in the meantime.
        core.ledger.due.tell(.now())
    }

    /// Compares the disk with the ledger, no faster than the news is judged.
    private func scan(_ name: String, _ inflow: PlaceIntake, _ path: BytePath) async {
        let root = inflow.root
        let folders = movedIn.folders(of: name, within: path)
        defer { movedIn.forget(folders) }
        do {
            guard try await look(at: root, anew: path.isEmpty) else { return }
            let (ignore, ledger, wantsFolder) = (ignore, core.ledger, wantsFolder(root))
            let passedOver = (unreadable(name) + refusedBySize(name).map(\.path)).filter { $0.isWithin(path) }
            let comparison = try await scanPool.run {
                try PlaceComparison(
                    root, from: path, ignoring: ignore, awaited: passedOver, ledger: ledger, wantsFolder: wantsFolder)
            }
            let isSurvey = path.isEmpty && (baselines[name] != nil || !core.journal.surveyed.contains(name))
            if isSurvey { surveys[name, default: Survey()].isScanned = false }
            let isWhole = path.isEmpty
            var hasGone = false
            while let part = try await scanPool.run({ try comparison.next(most: PlaceIntake.part) }) {
                if !hasGone, !part.gone.isEmpty {
                    hasGone = true
                    try await judgeNewNames(name, inflow)
                }
                if isSurvey { surveys[name]?.unjudged.formUnion(part.news) }
                for path in part.news {
                    movedIn.noteFound(Key(root: name, path: path))
                    await settle(name, path, still: true, isBacklog: isWhole)
                }
                for path in part.gone { await settle(name, path, extra: Self.renamedExtra) }
                // Events that arrived in the meantime come first.
                if isWhole { await lookAtMarks(name, inflow, besidesWhole: true) }
                await inflow.settler.room(below: PlaceIntake.room)
                if isStopped { return }
            }
            await conclude(comparison.summary, name, path, isSurvey: isSurvey)
            try await touchFolders(name, after: comparison.summary.report, of: path)
        } catch is CancellationError {
            // The agent is stopping; the next start scans again.
        } catch {
            let called = path.isEmpty ? root.path.description : core.ledger.names.called(name, path)
            log.error(
                "cannot scan \(called): \(core.ledger.names.redacted(explain(error), name, root: root.path, path))",
                metadata: LogFields.file(core.ledger.names.called(name, path), in: name))
        }
    }

    /// A file missing under one name may have just been found under another: then it was renamed, not removed. So
    /// nearly all files that are new by now are judged first, within two minutes. Files that are still being written,
    /// and files that arrive in the meantime, are not waited for: that might never end.
    private func judgeNewNames(_ name: String, _ inflow: PlaceIntake) async throws {
        var crowd = await inflow.settler.crowd()
        let all = Set(crowd.paths).union(inJudgement.lazy.filter { $0.root == name }.map(\.path))
        let end = ContinuousClock.now + .seconds(120)
        while !isStopped, ContinuousClock.now < end {
            crowd = await inflow.settler.remaining(of: crowd)
            if crowd.count < PlaceIntake.few {
                let judged = inJudgement.lazy.filter { $0.root == name && all.contains($0.path) }.map(\.path)
                if Set(crowd.paths).union(judged).count < PlaceIntake.few { return }
            }
            // Checking a large crowd takes the settler's own time, so do it less often.
            try await Task.sleep(for: .milliseconds(crowd.count < 1_000 ? 50 : 500))
        }
    }

    private func conclude(
        _ summary: PlaceComparison.Summary, _ name: String, _ path: BytePath, isSurvey: Bool
    ) async {
        let report = summary.report
        let known = closed[name] ?? []
        let top = inflows[name]?.root.path.appending(path) ?? path
        closed[name] = known.filter { !$0.isWithin(top) }.union(report.unreadable.map(\.path))
        for problem in report.unreadable where !known.contains(problem.path) {
            let below = inflows[name].flatMap { problem.path.relative(to: $0.root.path) }
            log.warning(
                "\(problem.path) cannot be read, so nothing in it is seen: \(problem.fault.message)",
                metadata: LogFields.file(below ?? problem.path, in: name))
        }
        let elsewhere = (missed[name] ?? []).filter { !$0.isWithin(path) }
        missed[name] = elsewhere.count < 100 ? elsewhere.union(report.passedOver) : elsewhere
        denied.subtract(summary.left.map { Key(root: name, path: $0) })
        for path in summary.left { tooLarge[Key(root: name, path: path)] = nil }
        guard path.isEmpty else { return }
        if isSurvey { surveys[name]?.isScanned = !report.rootMissing }
        firstScans.remove(name)
        await endSurvey(name)
    }
}
