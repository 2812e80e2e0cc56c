import Foundation
import Ledger
import Logging
import Platform
import Synchronization

/// Takes one job through its steps: intent, commit, effect, receipt, commit.
package final class JobExecutor: Sendable {
    package enum Outcome: Sendable, Equatable {
        case ended
        /// Ended, with a job that follows from its failure and is in the ledger.
        case followed(by: PlannedJob)
        /// Waits for a person's word, for no longer than that.
        case asking(until: Timestamp?)
        /// Ended without effect, because the file has changed.
        case superseded
        /// To be tried again; how often it was tried.
        case again(Int)
        /// To be tried again when these jobs have ended, or, where none is named, soon.
        case heldUp(by: Set<String>)
        /// Of the kind of work that its next step needs there is as much as may be, and many wait already: it is to be run
        /// again when there is less (``place(for:_:)``).
        case crowded(WorkKind, hasBegun: Bool)
        /// The agent is stopping; the job goes on at the next start.
        case stopped
    }

    let journal: EffectJournal
    let registry: ActionRegistry
    let quarantine: Quarantine
    let inWork: PathsInWork
    let meter: WorkMeter
    private let gates: [WorkKind: Gate]
    let log: Logger
    private let rulesInForce: @Sendable () -> RuleSet
    private let hungCalls: @Sendable () -> Int
    /// Held while somebody copies the stores.
    package let hold = StepHold()
    /// Jobs whose undo is at work.
    let undos = Mutex<Set<String>>([])
    /// Told of an undo that has to be tried again, and how often it was.
    private let undoWaits = Mutex<(@Sendable (_ job: String, _ attempts: Int) async -> Void)?>(nil)
    private let stopping = Atomic<Bool>(false)
    private let atWork = Atomic<Int>(0)

    /// From so many jobs at work on, none of them waits for a place among those of its kind of work.
    private static let crowd = 32
    /// Of so many steps a job is read anew when it goes on; one of more waits with them in memory.
    private static let fewSteps = 64
    /// Whether jobs wait for a kind of work already, and are not at work.
    private let othersWait = Atomic<Bool>(false)

    var ledger: Ledger { journal.ledger }
    var names: HiddenNames { journal.ledger.names }

    /// - Parameters:
    ///   - rules: gives the rules in force, by which steps are carried out.
    ///   - hungCalls: tells how many calls hang, in whose stead as many steps more may be at work.
    package init(
        journal: EffectJournal, registry: ActionRegistry, quarantine: Quarantine, inWork: PathsInWork,
        limits: [WorkKind: Int], meter: WorkMeter = WorkMeter(), log: Logger,
        rules: @escaping @Sendable () -> RuleSet,
        hungCalls: @escaping @Sendable () -> Int = { HangWatch.shared.hungCalls }
    ) {
        self.journal = journal
        self.registry = registry
        self.quarantine = quarantine
        self.inWork = inWork
        self.meter = meter
        gates = Dictionary(uniqueKeysWithValues: WorkKind.allCases.map { ($0, Gate(limit: limits[$0] ?? 4)) })
        self.log = log
        rulesInForce = rules
        self.hungCalls = hungCalls
        quarantine.share(inWork, rules)
    }

    var rules: RuleSet { rulesInForce() }

    /// Has it told of an undo that has to be tried again, and how often it was.
    func tellOfWaitingUndos(_ tell: @escaping @Sendable (_ job: String, _ attempts: Int) async -> Void) {
        undoWaits.withLock { $0 = tell }
    }

    /// See ``tellOfWaitingUndos(_:)``; nil where nobody tries again.
    var waitingUndo: (@Sendable (_ job: String, _ attempts: Int) async -> Void)? { undoWaits.withLock { $0 } }

    /// Kinds of work whose limit protects this machine, and not what others are asked for.
    private static let local: Set<WorkKind> = [.disk, .cpu, .process]

    /// Calls hang: steps that wait for such keep nobody else from working.
    package func makeRoom() {
        let hung = hungCalls()
        for kind in Self.local { gates[kind]?.reclaim(hung: hung) }
    }

    private func makeRoom(in gate: Gate, for work: WorkKind) {
        let hung = hungCalls()
        if hung > 0, Self.local.contains(work) { gate.reclaim(hung: hung) }
    }

    func stopAfterStep() {
        stopping.store(true, ordering: .relaxed)
        hold.end()
    }

    /// Runs what is left of a job, and records how it ended.
    ///
    /// - Parameters:
    ///   - whose: as ``bulkhead(of:)``, so that it is read where it is carried out; nil where that is yet to be read.
    ///   - planned: what it was when it was planned, if that is known; it counts where nothing has changed since.
    ///   - place: that of its next step, where it has one already.
    @concurrent
    func run(
        _ id: String, for whose: Bulkhead? = nil, planned: LoadedJob? = nil, _ place: WorkPlace? = nil
    ) async -> Outcome {
        await BlockingThreads.run(for: whose) { await self.runCounted(id, planned, place) }
    }

    private func runCounted(_ id: String, _ planned: LoadedJob?, _ place: WorkPlace?) async -> Outcome {
        defer { atWork.subtract(1, ordering: .relaxed) }
        atWork.add(1, ordering: .relaxed)
        do {
            let loaded = try await load(id, planned)
            if let place { return await run(id, loaded, leaving: place) }
            guard isCrowded, let loaded, loaded.record.state.isOpen, let work = workOfNextStep(of: loaded),
                let gate = gates[work]
            else { return await run(id, loaded, nil) }
            guard let place = placeAtOnce(in: gate, for: work) else {
                return .crowded(work, hasBegun: loaded.steps.contains { $0.state == .done })
            }
            return await run(id, loaded, leaving: place)
        } catch {
            place?.leave()
            log.error("cannot read the job: \(explain(error))", metadata: LogFields.job(id))
            return .again(5)
        }
    }

    private var isCrowded: Bool {
        othersWait.load(ordering: .relaxed) || atWork.load(ordering: .relaxed) > Self.crowd
    }

    /// Jobs that come now are to wait behind others, or need not any more.
    func tell(othersWait: Bool) { self.othersWait.store(othersWait, ordering: .relaxed) }

    /// The kind of work that the job's next step needs; nil where that cannot be told, which is said when it is carried out.
    private func workOfNextStep(of job: LoadedJob) -> WorkKind? {
        let next = job.steps.first { $0.state == .pending || $0.state == .intended }
        return next.flatMap { try? rules.step($0, of: job.record).action.work }
    }

    private func placeAtOnce(in gate: Gate, for work: WorkKind) -> WorkPlace? {
        makeRoom(in: gate, for: work)
        return WorkPlace.acquiredAtOnce(in: gate)
    }

    /// Gives `body` a place for a kind of work, once there is one; it must not block.
    func place(for work: WorkKind, _ body: @escaping @Sendable (WorkPlace) -> Void) {
        guard let gate = gates[work] else { return }
        makeRoom(in: gate, for: work)
        gate.givePlace(to: body)
    }

    private func run(_ id: String, _ loaded: LoadedJob?, leaving place: WorkPlace) async -> Outcome {
        defer { place.leave() }
        return await run(id, loaded, place)
    }

    /// - Parameter place: one that was acquired for the step that comes first; it is left when that step ends.
    private func run(_ id: String, _ loaded: LoadedJob?, _ place: WorkPlace?) async -> Outcome {
        do {
            guard var job = loaded, job.record.state.isOpen else { return .ended }
            if job.record.state == .waiting {
                // What is at work does not wait: nobody may clear the intent of a step that is being carried out.
                guard let begun = try await begin(id) else { return .ended }
                job = begun
            }
            return await run(job, place)
        } catch {
            log.error("cannot read the job: \(explain(error))", metadata: LogFields.job(id))
            return .again(5)
        }
    }

    private func begin(_ id: String) async throws -> LoadedJob? {
        try await ledger.write { transaction in
            guard var job = try transaction.job(id), job.state.isOpen else { return nil }
            job.state = .ready
            try transaction.update(job)
            return LoadedJob(job, try transaction.steps(of: id))
        }
    }

    /// The step's intent with the texts that it names; nil where it has none.
    func intent(of step: StepRecord) async throws -> StoredIntent? {
        guard let json = step.intent else { return nil }
        return StoredIntent(json: json, texts: try await ledger.read { try $0.texts(ofJob: step.job) })
    }

    /// - Parameter planned: what it was when it was planned; it is given back where nothing has changed since.
    func load(_ id: String, _ planned: LoadedJob? = nil) async throws -> LoadedJob? {
        try await ledger.read { transaction in
            if let planned, try transaction.isAsAdded(planned.record) { return planned }
            guard let job = try transaction.job(id) else { return nil }
            return LoadedJob(job, try transaction.steps(of: id))
        }
    }

    /// On whose behalf the calls of a job are made.
    static func bulkhead(of job: JobRecord) -> Bulkhead { bulkhead(job.rule, job.place) }

    static func bulkhead(_ rule: String, _ place: String) -> Bulkhead {
        Bulkhead("the rule \(rule) in \(place)")
    }

    private func run(_ start: LoadedJob, _ place: WorkPlace?) async -> Outcome {
        await BlockingThreads.run(for: Self.bulkhead(of: start.record)) {
            await self.carryOut(start, place)
        }
    }

    private func carryOut(_ start: LoadedJob, _ place: WorkPlace?) async -> Outcome {
        var record = start.record
        let steps = start.steps
        var place = place
        let files = journal.files()
        do {
            var job = try JobAtWork(start, in: journal.places, showing: names)
            defer { record = job.record }
            let open = steps.filter { $0.state == .pending || $0.state == .intended }
            var later: [StepsLater]?
            for (index, step) in open.enumerated() {
                if stopping.load(ordering: .relaxed) { return .stopped }
                files.closeFiles()
                files.begin(on: job.file.absolute, size: job.file.fingerprint?.size)
                var step = step
                if step.state == .intended {
                    if try await recover(step, of: &job, files) { continue }
                    step.state = .pending
                    step.intent = nil
                }
                let known = try later ?? stepsLater(open, of: record)
                later = known
                let template = try rules.step(step, of: record)
                let work = template.action.work
                guard let gate = gates[work] else {
                    throw Fault(.failed, "no limit is set for \(work.rawValue) work")
                }
                if let held = place, !gate.holds(held) {
                    held.leave()
                    place = nil
                }
                if place == nil, isCrowded, open.count <= Self.fewSteps {
                    place = placeAtOnce(in: gate, for: work)
                    if place == nil {
                        return .crowded(work, hasBegun: index > 0 || steps.contains { $0.state == .done })
                    }
                }
                try await perform(template, step, of: &job, later: known[index], files, place, gate)
                place = nil
            }
            if job.record.state.isOpen { try await end(job.record, .done, "done", "all steps done") }
            return .ended
        } catch {
            return await fail(record, error)
        }
    }

    private func perform(
        _ template: StepTemplate, _ step: StepRecord, of job: inout JobAtWork, later: StepsLater, _ files: HeldFiles,
        _ acquired: WorkPlace?, _ gate: Gate
    ) async throws {
        let action = template.action
        if acquired == nil { makeRoom(in: gate, for: action.work) }
        let place = if let acquired { acquired } else { await WorkPlace.acquired(in: gate) }
        defer { place.leave() }
        let start = ContinuousClock.now
        do {
            try await WorkPlace.$current.withValue(place) {
                // Only now: hundreds of jobs may wait for a place.
                try rules.requireKnown(template, step, of: job.record, job.values(of: step), in: journal.places)
                try await decideAndPerform(action, step, of: &job, later: later, files)
            }
        } catch {
            meter.step(step.action, failed: error)
            throw error
        }
        meter.step(step.action, doneAfter: ContinuousClock.now - start)
        if job.record.state == .done { meter.ended(job.record) }
    }

    /// Where others have taken the name that a step had decided on, it is decided anew at once. When very many want one name,
    /// the job waits for its turn like any other.
    private func decideAndPerform(
        _ action: any RuleAction, _ step: StepRecord, of job: inout JobAtWork, later: StepsLater, _ files: HeldFiles
    ) async throws {
        for _ in 1..<Self.mostDecisions {
            do {
                return try await perform(action, step, of: &job, later: later, files)
            } catch let fault as Fault where fault.code == Fault.nameTaken {
                continue
            }
        }
        try await perform(action, step, of: &job, later: later, files)
    }

    private static let mostDecisions = 16

    private func perform(
        _ action: any RuleAction, _ step: StepRecord, of job: inout JobAtWork, later: StepsLater, _ files: HeldFiles
    ) async throws {
        await hold.enter()
        defer { hold.leave() }
        let decided = try await action.decide(try input(job, step, later, files), hiding: names)
        inWork.begin(decided.targets)
        defer { inWork.end(decided.targets) }
        let rows = rows(of: step, decided, job, isLast: later.isNone)
        let isJournaled = type(of: action).journalsItself
        let current = job
        if !isJournaled {
            try await ledger.write { transaction in
                try self.requireAtRest(current, decided.targets, in: transaction)
                try rows.begin(in: transaction)
            }
        }
        let receipt = try await decided.perform(
            StepContext(
                jobID: job.record.id, stepID: step.id, attempt: job.record.attempts, files: files,
                rows: isJournaled ? rows : nil))
        if !rows.isEnded {
            try await ledger.write { transaction in
                // The effect was there before.
                if isJournaled { try rows.begin(in: transaction) }
                try rows.end(receipt, in: transaction)
            }
        }
        job = rows.ended ?? job
        tell(receipt.summary, step, job)
    }

    private func rows(of step: StepRecord, _ decided: DecidedStep, _ job: JobAtWork, isLast: Bool) -> StepRows {
        StepRows { transaction in
            try transaction.setIntent(step, decided.json, texts: decided.texts)
        } end: { receipt, transaction in
            try self.write(receipt, step, job, isLast: isLast, in: transaction)
        }
    }

    /// Commits a receipt with all that follows from it.
    ///
    /// - Returns: the job as it is then.
    func write(
        _ receipt: Receipt, _ step: StepRecord, _ before: JobAtWork, isLast: Bool, in transaction: LedgerTransaction
    ) throws -> JobAtWork {
        var job = before
        let moved = follow(job.file, receipt.effects)
        if let moved {
            try job.move(to: moved, hiding: names)
        } else {
            try job.catchUp(with: journal.places, in: transaction)
        }
        if isLast { job.end() } else { try job.add(receipt.values) }
        let isForgotten = try isLast && forgetContent(of: &job.record)
        var receipt = receipt
        receipt.summary = redacted(receipt.summary, job.record)
        // Later steps have them from the job.
        let elsewhere = registry[step.action]?.declaration.provides.filter(\.isKeptElsewhere).map(\.name) ?? []
        receipt.values = receipt.values.filter { !$0.value.isLong && !elsewhere.contains($0.key) }
        let record = job.record
        try transaction.setReceipt(step, try LedgerJSON.encode(receipt, hiding: names))
        try journal.apply(receipt.effects, of: record, in: transaction)
        try transaction.clearStaged(job: step.id)
        try transaction.update(record)
        try FailureSteps.settle(record, in: transaction)
        if moved != nil || isForgotten { try transaction.setFile(of: record) }
        if isForgotten { try transaction.forgetContent(of: record) }
        if let moved { try tellOthers(before.file, moved, record, in: transaction) }
        try transaction.note(
            "step", "\(step.action): \(receipt.summary)", job: record.id, place: record.place, path: record.path)
        return job
    }

    func tell(_ summary: String, _ step: StepRecord, _ job: JobAtWork) {
        log.info(
            "\(step.action): \(redacted(summary, job.record))",
            metadata: fields(job.record))
    }
}
