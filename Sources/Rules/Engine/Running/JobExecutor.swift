import Foundation
import Ledger
import Logging
import Platform
import Synchronization

/// Takes one job through its steps: intent, commit, effect, receipt, commit.
package final class JobExecutor: Sendable {
    package enum Outcome: Sendable, Equatable {
        case ended
        /// Ended without effect, because the file has changed.
        case superseded
        /// To be tried again; how often it was tried.
        case again(Int)
        /// The agent is stopping; the job goes on at the next start.
        case stopped
    }

    let journal: EffectJournal
    private let registry: ActionRegistry
    let quarantine: Quarantine
    let inWork: PathsInWork
    private let gates: [WorkKind: Gate]
    let log: Logger
    private let stopping = Atomic<Bool>(false)
    private let atWork = Atomic<Int>(0)

    /// From so many jobs at work on, one waits for its place before it is read.
    private static let crowd = 32

    var ledger: Ledger { journal.ledger }
    var names: NameVeil { journal.ledger.names }

    package init(
        journal: EffectJournal, registry: ActionRegistry, quarantine: Quarantine, inWork: PathsInWork,
        limits: [WorkKind: Int], log: Logger
    ) {
        self.journal = journal
        self.registry = registry
        self.quarantine = quarantine
        self.inWork = inWork
        gates = Dictionary(uniqueKeysWithValues: WorkKind.allCases.map { ($0, Gate(limit: limits[$0] ?? 4)) })
        self.log = log
    }

    /// Kinds of work whose limit protects this machine, and not what others are asked for.
    private static let local: Set<WorkKind> = [.disk, .cpu, .process]

    /// A call has been found to hang: steps that wait for such keep nobody else from working.
    package func makeRoom() async {
        for kind in Self.local { await gates[kind]?.reclaim() }
    }

    func stopAfterStep() { stopping.store(true, ordering: .relaxed) }

    /// Runs what is left of a job, and records how it ended.
    @concurrent
    func run(_ id: String) async -> Outcome {
        await BlockingThreads.run(for: nil) { await self.runCounted(id) }
    }

    private func runCounted(_ id: String) async -> Outcome {
        defer { atWork.subtract(1, ordering: .relaxed) }
        let isCrowded = atWork.add(1, ordering: .relaxed).newValue > Self.crowd
        do {
            let place = isCrowded ? try await placeForNextStep(of: id) : nil
            let outcome = await run(id, place)
            await place?.leave()
            return outcome
        } catch {
            log.error("cannot read the job: \(explain(error))", metadata: ["job": "\(id)"])
            return .again(5)
        }
    }

    /// Waits for a place of the kind that the job's next step is declared to need, with nothing of it in memory but its id:
    /// hundreds of jobs may wait.
    private func placeForNextStep(of id: String) async throws -> WorkPlace? {
        guard let name = try await ledger.read({ try $0.nextAction(of: id) }), let definition = registry[name],
            let gate = gates[definition.declaration.work]
        else { return nil }
        return await WorkPlace.taken(in: gate)
    }

    /// - Parameter place: one that was taken for the step that comes first; it is left when that step ends.
    private func run(_ id: String, _ place: WorkPlace?) async -> Outcome {
        do {
            guard var (job, steps) = try await load(id), job.state.isOpen else { return .ended }
            if job.state == .waiting {
                // What is at work does not wait: nobody may clear the intent of a step that is being carried out.
                guard let begun = try await begin(id) else { return .ended }
                (job, steps) = begun
            }
            return await run(job, steps, place)
        } catch {
            log.error("cannot read the job: \(explain(error))", metadata: ["job": "\(id)"])
            return .again(5)
        }
    }

    private func begin(_ id: String) async throws -> (JobRecord, [StepRecord])? {
        try await ledger.write { transaction in
            guard var job = try transaction.job(id), job.state.isOpen else { return nil }
            job.state = .ready
            try transaction.update(job)
            return (job, try transaction.steps(of: id))
        }
    }

    /// Settles the step that a crash interrupted, if one was, without going on to the next.
    ///
    /// - Returns: how the job ended, if it did.
    func settleBegun(_ job: JobRecord) async -> Outcome? {
        do {
            guard let (job, steps) = try await load(job.id), job.state.isOpen,
                let begun = steps.first(where: { $0.state == .intended })
            else { return nil }
            do {
                var current = try JobAtWork(job, showing: names)
                try await settle(begun, of: &current, journal.files())
            } catch {
                return await fail(job, error)
            }
        } catch {
            log.error("cannot settle what was begun: \(explain(error))", metadata: ["job": "\(job.id)"])
        }
        return nil
    }

    /// The step's intent with the texts that it names; nil where it has none.
    func intent(of step: StepRecord) async throws -> StoredIntent? {
        guard let json = step.intent else { return nil }
        return StoredIntent(json: json, texts: try await ledger.read { try $0.texts(ofJob: step.job) })
    }

    func load(_ id: String) async throws -> (JobRecord, [StepRecord])? {
        try await ledger.read { transaction in
            guard let job = try transaction.job(id) else { return nil }
            return (job, try transaction.steps(of: id))
        }
    }

    private func run(_ start: JobRecord, _ steps: [StepRecord], _ place: WorkPlace?) async -> Outcome {
        await BlockingThreads.run(for: Bulkhead("the rule \(start.rule) in \(start.place)")) {
            await self.carryOut(start, steps, place)
        }
    }

    private func carryOut(_ start: JobRecord, _ steps: [StepRecord], _ place: WorkPlace?) async -> Outcome {
        var record = start
        var place = place
        let files = journal.files()
        do {
            var job = try JobAtWork(start, showing: names)
            defer { record = job.record }
            for step in steps where step.state == .pending || step.state == .intended {
                if stopping.load(ordering: .relaxed) { return .stopped }
                files.closeFiles()
                files.expect(job.file.absolute, size: job.file.fingerprint?.size)
                var step = step
                if step.state == .intended {
                    if try await settle(step, of: &job, files) { continue }
                    step.state = .pending
                    step.intent = nil
                }
                try await perform(step, of: &job, later: steps.filter { $0.number > step.number }, files, place)
                place = nil
            }
            if job.record.state.isOpen { try await end(job.record, .done, "done", "all steps done") }
            return .ended
        } catch {
            return await fail(record, error)
        }
    }

    private func perform(
        _ step: StepRecord, of job: inout JobAtWork, later: [StepRecord], _ files: HeldFiles, _ taken: WorkPlace?
    ) async throws {
        let action = try action(of: step)
        let work = action.work
        guard let gate = gates[work] else { throw Fault(.failed, "no limit is set for \(work.rawValue) work") }
        if !HangWatch.shared.hangs.isEmpty, Self.local.contains(work) { await gate.reclaim() }
        let place: WorkPlace
        if let taken, await gate.holds(taken) {
            place = taken
        } else {
            await taken?.leave()
            place = await WorkPlace.taken(in: gate)
        }
        do {
            try await WorkPlace.$current.withValue(place) {
                // Only now: hundreds of jobs may wait for a place.
                try await perform(action, step, of: &job, later: later, files)
            }
        } catch {
            await place.leave()
            throw error
        }
        await place.leave()
    }

    private func perform(
        _ action: any RuleAction, _ step: StepRecord, of job: inout JobAtWork, later: [StepRecord], _ files: HeldFiles
    ) async throws {
        let decided = try await action.decide(try input(job, step, later, files), hiding: names)
        inWork.begin(decided.targets)
        defer { inWork.end(decided.targets) }
        let rows = rows(of: step, decided, job, isLast: later.isEmpty)
        let isJournaled = type(of: action).journalsItself
        if !isJournaled { try await ledger.write { try rows.begin(in: $0) } }
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

    /// - Returns: whether the step turned out to be done.
    @discardableResult
    private func settle(
        _ step: StepRecord, of job: inout JobAtWork, _ files: HeldFiles
    ) async throws -> Bool {
        guard let intent = try await intent(of: step) else {
            try await ledger.write { try $0.clearIntent(step) }
            return false
        }
        let action = try action(of: step)
        let targets = try action.targets(intent, names)
        inWork.begin(targets)
        defer { inWork.end(targets) }
        let context = StepContext(
            jobID: job.record.id, stepID: step.id, attempt: job.record.attempts, files: files)
        switch try await action.settle(intent, names, context) {
        case .done(let receipt):
            let before = job
            job = try await ledger.write { try self.write(receipt, step, before, isLast: false, in: $0) }
            tell(receipt.summary, step, job)
            return true
        case .notDone:
            try await ledger.write { try $0.clearIntent(step) }
            return false
        case .unknown(let why):
            guard step.repeatSafe else {
                throw Fault(
                    .failed, "outcome unknown: \(why); `steward retry \(job.record.id.prefix(12))` runs it again")
            }
            try await ledger.write { try $0.clearIntent(step) }
            return false
        }
    }

    /// Commits a receipt with all that follows from it.
    ///
    /// - Returns: the job as it is then.
    private func write(
        _ receipt: Receipt, _ step: StepRecord, _ before: JobAtWork, isLast: Bool, in transaction: LedgerTransaction
    ) throws -> JobAtWork {
        var job = before
        let moved = follow(job.file, receipt.effects)
        if let moved { try job.move(to: moved, hiding: names) }
        if isLast { job.end() } else { try job.add(receipt.values) }
        let isForgotten = try isLast && forgetContent(of: &job.record)
        var receipt = receipt
        receipt.summary = redacted(receipt.summary, job.record)
        // Later steps have them from the job.
        receipt.values = receipt.values.filter { !$0.value.isLong }
        let record = job.record
        try transaction.setReceipt(step, try LedgerJSON.encode(receipt, hiding: names))
        try journal.apply(receipt.effects, of: record, in: transaction)
        try transaction.clearStaged(job: step.id)
        try transaction.update(record)
        if isForgotten { try transaction.forgetContent(of: record) }
        if let moved { try tellOthers(before.file.absolute, moved, record, in: transaction) }
        try transaction.note(
            "step", "\(step.action): \(receipt.summary)", job: record.id, place: record.place, path: record.path)
        return job
    }

    /// Other jobs that wait for the file look for it where it is now.
    private func tellOthers(
        _ from: BytePath, _ to: FileReference, _ mover: JobRecord, in transaction: LedgerTransaction
    ) throws {
        for var other in try transaction.jobs(of: mover.place, mover.path)
        where other.id != mover.id && other.state.isOpen {
            guard try file(other).absolute == from else { continue }
            other.file = try LedgerJSON.encode(to, hiding: names)
            try transaction.update(other)
        }
    }

    private func tell(_ summary: String, _ step: StepRecord, _ job: JobAtWork) {
        log.info(
            "\(step.action): \(redacted(summary, job.record))",
            metadata: ["job": "\(job.record.id.prefix(12))", "rule": "\(job.record.rule)"])
    }

    /// Where the job's file is after `effects`, if they moved it.
    func follow(_ file: FileReference, _ effects: [FileEffect]) -> FileReference? {
        for case .moved(let from, let to, let fingerprint, let hash) in effects where from == file.absolute {
            guard let (place, path) = journal.places.locate(to) else {
                return FileReference(
                    place: "", root: to.parent, path: BytePath(bytes: to.name), fingerprint: fingerprint, hash: hash)
            }
            return FileReference(place: place.name, root: place.root, path: path, fingerprint: fingerprint, hash: hash)
        }
        return nil
    }

    // MARK: What a step is told

    func action(of step: StepRecord) throws -> any RuleAction { try made(step).action }

    private func made(_ step: StepRecord) throws -> MadeAction {
        try registry.action(named: step.action, storedArguments: step.arguments)
    }

    func file(_ job: JobRecord) throws -> FileReference {
        try LedgerJSON.decode(FileReference.self, from: job.file, showing: names)
    }

    private func input(
        _ job: JobAtWork, _ step: StepRecord, _ later: [StepRecord], _ files: HeldFiles
    ) throws -> StepInput {
        let record = job.record
        guard let event = FileEvent(rawValue: record.event) else {
            throw Fault(.failed, "the ledger names an event that this version does not know: \(record.event)")
        }
        return StepInput(
            jobID: record.id, stepID: step.id, rule: record.rule, event: event, file: job.file,
            arrival: record.arrived, values: job.values,
            namesUsedLater: try Set(later.flatMap { try made($0).valueNames }), attempt: record.attempts, files: files)
    }
}
