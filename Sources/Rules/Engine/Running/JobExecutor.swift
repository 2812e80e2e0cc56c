import Foundation
import Ledger
import Logging
import Platform
import Synchronization

/// Takes one job through its steps: intent, commit, effect, receipt, commit.
package final class JobExecutor: Sendable {
    package enum Outcome: Sendable, Equatable {
        case ended
        /// Ended with a failure; the follow-up job is in the ledger.
        case followed(by: PlannedJob)
        /// Waits for a person's answer, at most until that time.
        case asking(until: Timestamp?)
        /// Ended without effect because the file has changed.
        case superseded
        /// To be retried; the number of tries so far.
        case again(Int)
        /// To be retried when it is woken, and in case that is missed, later; the number of tries so far.
        case watched(Int)
        /// To be retried when these jobs have ended, or soon if the set is empty.
        case heldUp(by: Set<String>)
        /// The limit for the next step's kind of work is reached, and many jobs are waiting already. To be run again
        /// when a permit is free (``permit(for:)``).
        case crowded(WorkKind, hasBegun: Bool)
        /// The agent is stopping; the job continues after the next start.
        case stopped
    }

    let journal: EffectJournal
    let registry: ActionRegistry
    let quarantine: Quarantine
    let inWork: PathsInWork
    let meter: WorkMeter
    let calls = CurrentCalls()
    private let limits: [WorkKind: StepLimit]
    let log: Logger
    private let rulesInForce: @Sendable () -> RuleSet
    private let hungCalls: @Sendable () -> Int
    /// Held while the stores are being copied.
    package let hold = StepHold()
    /// Jobs whose undo is running.
    let undos = Mutex<Set<String>>([])
    /// Called for an undo that needs a retry, with the number of tries so far.
    private let undoWaits = Mutex<(@Sendable (_ job: String, _ attempts: Int) async -> Void)?>(nil)
    private let stopping = Atomic<Bool>(false)
    private let atWork = Atomic<Int>(0)

    /// With more than this many jobs running, none of them waits for a permit.
    private static let crowd = 32
    /// A job with up to this many steps is reloaded when it continues; a longer one keeps its steps in memory.
    private static let fewSteps = 64
    /// Whether jobs are already queued for a kind of work.
    private let othersWait = Atomic<Bool>(false)

    var ledger: Ledger { journal.ledger }
    var names: HiddenNames { journal.ledger.names }

    /// - Parameters:
    ///   - rules: returns the rules in force, which steps are carried out by.
    ///   - hungCalls: returns the number of hung calls; that many extra steps may run in their place.
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
        self.limits = Dictionary(
            uniqueKeysWithValues: WorkKind.allCases.map { ($0, StepLimit(permits: limits[$0] ?? 4)) })
        self.log = log
        rulesInForce = rules
        self.hungCalls = hungCalls
        quarantine.share(inWork, rules)
    }

    var rules: RuleSet { rulesInForce() }

    /// Sets the handler for undos that have to be retried; it gets the number of tries so far.
    func tellOfWaitingUndos(_ tell: @escaping @Sendable (_ job: String, _ attempts: Int) async -> Void) {
        undoWaits.withLock { $0 = tell }
    }

    /// The handler set by ``tellOfWaitingUndos(_:)``; nil if nothing retries undos.
    var waitingUndo: (@Sendable (_ job: String, _ attempts: Int) async -> Void)? { undoWaits.withLock { $0 } }

    /// Kinds of work whose limit protects this machine rather than a remote service.
    private static let local: Set<WorkKind> = [.disk, .cpu, .process]

    /// Frees the permits of steps stuck in hung calls, so that other steps can run.
    package func makeRoom() {
        let hung = hungCalls()
        for kind in Self.local { limits[kind]?.reclaim(hung: hung) }
    }

    private func makeRoom(in limit: StepLimit, for work: WorkKind) {
        let hung = hungCalls()
        if hung > 0, Self.local.contains(work) { limit.reclaim(hung: hung) }
    }

    func stopAfterStep() {
        stopping.store(true, ordering: .relaxed)
        hold.end()
    }

    /// Runs the remaining steps of a job and records how it ended.
    ///
    /// - Parameters:
    ///   - whose: ``bulkhead(of:)`` of the job, so that loading runs on the same threads; nil if not known before
    ///     loading.
    ///   - planned: the job as it was planned, if known; used if nothing has changed since.
    ///   - permit: the permit of its next step, if already acquired.
    @concurrent
    func run(
        _ id: String, for whose: Bulkhead? = nil, planned: LoadedJob? = nil, _ permit: StepPermit? = nil
    ) async -> Outcome {
        atWork.add(1, ordering: .relaxed)
        defer {
            atWork.subtract(1, ordering: .relaxed)
            // No-op if the step has released it.
            permit?.release()
        }
        do {
            let loaded = try await BlockingPool.run(for: whose) { try await self.load(id, planned) }
            guard let loaded, loaded.record.state.isOpen else { return .ended }
            return await BlockingPool.run(for: Self.bulkhead(of: loaded.record)) {
                await self.carryOut(loaded, permit)
            }
        } catch {
            log.error("cannot read the job: \(explain(error))", metadata: LogFields.job(id))
            return .again(5)
        }
    }

    private var isCrowded: Bool {
        othersWait.load(ordering: .relaxed) || atWork.load(ordering: .relaxed) > Self.crowd
    }

    /// Sets whether new jobs have to queue behind others.
    func tell(othersWait: Bool) { self.othersWait.store(othersWait, ordering: .relaxed) }

    private func permitIfFree(of limit: StepLimit, for work: WorkKind) -> StepPermit? {
        makeRoom(in: limit, for: work)
        return limit.acquireIfFree()
    }

    /// Waits for a permit for a kind of work. Returns nil if that kind has no limit, or the task is cancelled.
    func permit(for work: WorkKind) async -> StepPermit? {
        guard let limit = limits[work] else { return nil }
        makeRoom(in: limit, for: work)
        return try? await limit.acquire()
    }

    /// Marks a waiting job as ready, so that nothing clears the intent of the step being carried out.
    private func begin(_ id: String) async throws -> LoadedJob? {
        try await ledger.write { transaction in
            guard var job = try transaction.job(id), job.state.isOpen else { return nil }
            job.state = .ready
            try transaction.update(job)
            return LoadedJob(job, try transaction.steps(of: id))
        }
    }

    /// The step's intent with the texts that it references, or nil.
    func intent(of step: StepRecord) async throws -> StoredIntent? {
        guard let json = step.intent else { return nil }
        return StoredIntent(json: json, texts: try await ledger.read { try $0.texts(ofJob: step.job) })
    }

    /// - Parameter planned: the job as it was planned; returned as is if nothing has changed since.
    func load(_ id: String, _ planned: LoadedJob? = nil) async throws -> LoadedJob? {
        try await ledger.read { transaction in
            if let planned, try transaction.isAsAdded(planned.record) { return planned }
            guard let job = try transaction.job(id) else { return nil }
            return LoadedJob(job, try transaction.steps(of: id))
        }
    }

    /// The bulkhead for the calls of a job.
    static func bulkhead(of job: JobRecord) -> Bulkhead { bulkhead(job.rule, job.place) }

    static func bulkhead(_ rule: String, _ place: String) -> Bulkhead {
        Bulkhead("the rule \(rule) in \(place)")
    }

    /// Takes the steps of a job through their phases, one after another.
    ///
    /// - Parameter given: a permit for the first step.
    private func carryOut(_ loaded: LoadedJob, _ given: StepPermit?) async -> Outcome {
        var record = loaded.record
        var permit = given
        let files = journal.files()
        do {
            guard let start = record.state == .waiting ? try await begin(record.id) : loaded else { return .ended }
            record = start.record
            var job = try JobAtWork(start, in: journal.places, showing: names)
            defer { record = job.record }
            let open = start.steps.filter { $0.state == .pending || $0.state == .intended }
            var later: [StepsLater]?
            for (index, step) in open.enumerated() {
                if stopping.load(ordering: .relaxed) { return .stopped }
                files.closeFiles()
                files.begin(on: job.file.absolute, size: job.file.fingerprint?.size)
                var machine = StepMachine(self, step, of: job, files)
                if step.state == .intended {
                    try await machine.advance()
                    job = machine.job
                    if machine.isDone { continue }
                }
                let known = try later ?? stepsLater(open, of: record)
                later = known
                let template = try rules.step(step, of: record)
                let work = template.action.work
                guard let limit = limits[work] else {
                    throw Fault(.failed, "no limit is set for \(work.rawValue) work")
                }
                if let held = permit, !held.isHeld(of: limit) {
                    held.release()
                    permit = nil
                }
                if permit == nil {
                    permit = permitIfFree(of: limit, for: work)
                    if permit == nil, isCrowded, index == 0 || open.count <= Self.fewSteps {
                        return .crowded(work, hasBegun: index > 0 || start.steps.contains { $0.state == .done })
                    }
                }
                let own = if let permit { permit } else { try await limit.acquire() }
                permit = nil
                job = try await carryOut(machine, by: template, later: known[index], own)
            }
            if job.record.state.isOpen { try await end(job.record, .done, "done", "all steps done") }
            return .ended
        } catch {
            return await fail(record, error)
        }
    }

    /// Takes one step from its decision to its receipt.
    ///
    /// - Returns: the job after that step.
    private func carryOut(
        _ begun: StepMachine, by template: StepTemplate, later: StepsLater, _ permit: StepPermit
    ) async throws -> JobAtWork {
        defer { permit.release() }
        var machine = begun
        let step = machine.step
        let start = ContinuousClock.now
        do {
            try await StepPermit.$current.withValue(permit) {
                // Not earlier, since hundreds of jobs may wait for a permit.
                try rules.requireKnown(
                    template, step, of: machine.job.record, machine.job.values(of: step), in: journal.places)
                machine.decide(by: template.action, later: later)
                while !machine.isDone { try await machine.advance() }
            }
        } catch {
            meter.step(step.action, failed: error)
            throw error
        }
        meter.step(step.action, doneAfter: ContinuousClock.now - start)
        if machine.job.record.state == .done { meter.ended(machine.job.record) }
        return machine.job
    }

    /// Commits a receipt and all its consequences.
    ///
    /// - Returns: the job after that step.
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
        // Later steps get these values from the job.
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

    /// Commits the effects of a part of a step, which is then undecided again.
    func writePart(_ receipt: Receipt, _ step: StepRecord, _ job: JobAtWork) async throws {
        let summary = redacted(receipt.summary, job.record)
        try await ledger.write { transaction in
            try self.journal.apply(receipt.effects, of: job.record, in: transaction)
            try transaction.clearStaged(job: step.id)
            try transaction.clearIntent(step)
            try transaction.note(
                "step", "\(step.action): \(summary)", job: job.record.id, place: job.record.place,
                path: job.record.path)
        }
        tell(receipt.summary, step, job)
    }

    func tell(_ summary: String, _ step: StepRecord, _ job: JobAtWork) {
        log.info(
            "\(step.action): \(redacted(summary, job.record))",
            metadata: fields(job.record))
    }
}
