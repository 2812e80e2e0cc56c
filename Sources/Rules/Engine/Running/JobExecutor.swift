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
    private let quarantine: Quarantine
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
    func run(_ id: String) async -> Outcome {
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
            var current = job
            do {
                try await settle(begun, of: &current, journal.files())
            } catch {
                return await fail(current, error)
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
        await Bulkhead.$current.withValue(Bulkhead("the rule \(start.rule) in \(start.place)")) {
            await carryOut(start, steps, place)
        }
    }

    private func carryOut(_ start: JobRecord, _ steps: [StepRecord], _ place: WorkPlace?) async -> Outcome {
        var job = start
        var place = place
        let files = journal.files()
        do {
            for step in steps where step.state == .pending || step.state == .intended {
                if stopping.load(ordering: .relaxed) { return .stopped }
                files.closeFiles()
                let about = try file(job)
                files.expect(about.absolute, size: about.fingerprint?.size)
                var step = step
                if step.state == .intended {
                    if try await settle(step, of: &job, files) { continue }
                    step.state = .pending
                    step.intent = nil
                }
                try await perform(step, of: &job, later: steps.filter { $0.number > step.number }, files, place)
                place = nil
            }
            if job.state.isOpen { try await end(job, .done, "done", "all steps done") }
            return .ended
        } catch {
            return await fail(job, error)
        }
    }

    private func perform(
        _ step: StepRecord, of job: inout JobRecord, later: [StepRecord], _ files: HeldFiles, _ taken: WorkPlace?
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
                let input = try input(job, step, later, files)
                let (intent, texts) = try await action.decide(input, hiding: names)
                let targets = try action.targets(intent, names)
                inWork.begin(targets)
                defer { inWork.end(targets) }
                try await ledger.write { try $0.setIntent(step, intent.json, texts: texts) }
                let context = StepContext(jobID: job.id, stepID: step.id, attempt: job.attempts, files: files)
                let receipt = try await action.perform(intent, names, context)
                try await commit(receipt, step, &job, isLast: later.isEmpty)
            }
        } catch {
            await place.leave()
            throw error
        }
        await place.leave()
    }

    /// - Returns: whether the step turned out to be done.
    @discardableResult
    private func settle(
        _ step: StepRecord, of job: inout JobRecord, _ files: HeldFiles
    ) async throws -> Bool {
        guard let intent = try await intent(of: step) else {
            try await ledger.write { try $0.clearIntent(step) }
            return false
        }
        let action = try action(of: step)
        let targets = try action.targets(intent, names)
        inWork.begin(targets)
        defer { inWork.end(targets) }
        let context = StepContext(jobID: job.id, stepID: step.id, attempt: job.attempts, files: files)
        switch try await action.settle(intent, names, context) {
        case .done(let receipt):
            try await commit(receipt, step, &job, isLast: false)
            return true
        case .notDone:
            try await ledger.write { try $0.clearIntent(step) }
            return false
        case .unknown(let why):
            guard step.repeatSafe else {
                throw Fault(.failed, "outcome unknown: \(why); `steward retry \(job.id.prefix(12))` runs it again")
            }
            try await ledger.write { try $0.clearIntent(step) }
            return false
        }
    }

    private func commit(_ receipt: Receipt, _ step: StepRecord, _ job: inout JobRecord, isLast: Bool) async throws {
        job.values = try LedgerJSON.encode(try values(job).merging(receipt.values) { $1 })
        let from = try file(job)
        let to = follow(from, receipt.effects)
        if let to { job.file = try LedgerJSON.encode(to, hiding: names) }
        if isLast {
            job.state = .done
            job.values = Self.noValues
            job.problem = nil
            job.nextAttempt = nil
        }
        let isForgotten = try isLast && forgetContent(of: &job)
        let updated = job
        let (journal, names) = (journal, names)
        var receipt = receipt
        receipt.summary = redacted(receipt.summary, job)
        let (summary, effects) = (receipt.summary, receipt.effects)
        // Later steps have them from the job.
        receipt.values = receipt.values.filter { !$0.value.isLong }
        let receiptText = try LedgerJSON.encode(receipt, hiding: names)
        try await ledger.write { transaction in
            try transaction.setReceipt(step, receiptText)
            try journal.apply(effects, of: updated, in: transaction)
            try transaction.clearStaged(job: step.id)
            try transaction.update(updated)
            if isForgotten { try transaction.forgetContent(of: updated) }
            if let to {
                for var other in try transaction.jobs(of: updated.place, updated.path)
                where other.id != updated.id && other.state.isOpen {
                    guard
                        try LedgerJSON.decode(FileReference.self, from: other.file, showing: names).absolute
                            == from.absolute
                    else {
                        continue
                    }
                    other.file = try LedgerJSON.encode(to, hiding: names)
                    try transaction.update(other)
                }
            }
            try transaction.note(
                "step", "\(step.action): \(summary)", job: updated.id, place: updated.place, path: updated.path)
        }
        log.info(
            "\(step.action): \(summary)", metadata: ["job": "\(job.id.prefix(12))", "rule": "\(job.rule)"])
    }

    /// What templates could show is nothing to a job whose steps are all done.
    private static let noValues = "{}"

    /// Takes values and content out of a job that has ended, where its file is hidden.
    ///
    /// - Returns: whether it is.
    private func forgetContent(of job: inout JobRecord) throws -> Bool {
        guard names.hides(job.place, job.path) else { return false }
        var file = try file(job)
        (file.fingerprint, file.hash) = (nil, nil)
        job.file = try LedgerJSON.encode(file, hiding: names)
        job.values = Self.noValues
        return true
    }

    /// The text without the name of the job's file, where that is hidden.
    func redacted(_ text: String, _ job: JobRecord) -> String {
        guard names.hides(job.place, job.path), let place = journal.places[name: job.place] else { return text }
        return names.redacted(text, job.place, root: place.root, job.path)
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

    /// The tries after which the wait for an editor grows no longer: half a minute.
    private static let editorTries = 6

    private func fail(_ job: JobRecord, _ error: any Error) async -> Outcome {
        let found = await cause(error, of: job)
        let fault = Fault(
            found.kind, redacted(found.message, job), path: found.path, errno: found.errno, code: found.code)
        var job = job
        job.problem = fault.message
        do {
            switch fault.kind {
            case .transient:
                job.state = .waiting
                job.attempts += 1
                try await save(job, "retry", "try \(job.attempts) failed, to be tried again: \(fault.message)")
                log.warning("\(fault.message); trying again later", metadata: ["job": "\(job.id.prefix(12))"])
                return .again(fault.code == Fault.inEditor ? min(job.attempts, Self.editorTries) : job.attempts)
            case .superseded:
                try await end(job, .superseded, "superseded", fault.message)
                return .superseded
            case .refused:
                do {
                    try await refuse(job, fault)
                } catch let changed as Fault where changed.kind == .superseded {
                    job.problem = redacted(changed.message, job)
                    try await end(job, .superseded, "superseded", redacted(changed.message, job))
                    return .superseded
                }
            case .failed, .usage, .fatal:
                try await end(
                    job, .parked, "parked", "\(fault.message) (`steward retry \(job.id.prefix(12))` tries it again)")
                log.error("parked: \(fault.message)", metadata: ["job": "\(job.id.prefix(12))", "rule": "\(job.rule)"])
            }
            return .ended
        } catch {
            log.error(
                "cannot record that a job failed (\(fault.message)): \(explain(error))",
                metadata: ["job": "\(job.id.prefix(12))"])
            return .again(max(3, job.attempts))
        }
    }

    private func refuse(_ job: JobRecord, _ fault: Fault) async throws {
        log.warning("refused: \(fault.message)", metadata: ["job": "\(job.id.prefix(12))", "rule": "\(job.rule)"])
        let file = try file(job)
        let files = journal.files()
        // What is not there, or lies behind a link by now, is not ours to move.
        let inPlace = try await journal.presence.lanes.run { try Self.isThere(file.absolute, files) }
        if job.refused == "quarantine", inPlace {
            inWork.begin([file.absolute])
            defer { inWork.end([file.absolute]) }
            do {
                _ = try await quarantine.take(job, file, reason: fault.message, code: fault.code)
            } catch let full as Fault where full.code == Quarantine.full {
                log.warning("\(full.message)", metadata: ["job": "\(job.id.prefix(12))"])
                return try await end(
                    job, .refused, "refused", "\(fault.message); the file was left where it is: \(full.message)")
            }
            try await end(job, .refused, "refused", "\(fault.message); the file is in quarantine")
        } else {
            try await end(job, .refused, "refused", "\(fault.message); the file was left where it is")
        }
    }

    private static func isThere(_ path: BytePath, _ files: HeldFiles) throws -> Bool {
        do {
            return try files.status(path)?.kind == .file
        } catch let fault as Fault where fault.code == Fault.link {
            return false
        }
    }

    func end(_ job: JobRecord, _ state: JobRecord.State, _ kind: String, _ message: String) async throws {
        var job = job
        job.state = state
        job.nextAttempt = nil
        if state == .done { job.problem = nil }
        if state == .done || state == .undone { job.values = Self.noValues }
        let isForgotten = try (state == .done || state == .undone) && forgetContent(of: &job)
        let ended = job
        try await save(ended, kind, message)
        if isForgotten { try await ledger.write { try $0.forgetContent(of: ended) } }
    }

    private func save(_ job: JobRecord, _ kind: String, _ message: String) async throws {
        try await ledger.write { transaction in
            try transaction.update(job)
            if job.state == .superseded { try transaction.setSuperseded(job.id, true) }
            try transaction.note(kind, message, job: job.id, place: job.place, path: job.path)
        }
    }

    // MARK: What a step is told

    func action(of step: StepRecord) throws -> any RuleAction { try made(step).action }

    private func made(_ step: StepRecord) throws -> MadeAction {
        try registry.action(named: step.action, storedArguments: step.arguments)
    }

    func file(_ job: JobRecord) throws -> FileReference {
        try LedgerJSON.decode(FileReference.self, from: job.file, showing: names)
    }

    private func values(_ job: JobRecord) throws -> Values { try LedgerJSON.decode(Values.self, from: job.values) }

    private func input(
        _ job: JobRecord, _ step: StepRecord, _ later: [StepRecord], _ files: HeldFiles
    ) throws -> StepInput {
        guard let event = FileEvent(rawValue: job.event) else {
            throw Fault(.failed, "the ledger names an event that this version does not know: \(job.event)")
        }
        return StepInput(
            jobID: job.id, stepID: step.id, rule: job.rule, event: event, file: try file(job), arrival: job.arrived,
            values: try values(job), namesUsedLater: try Set(later.flatMap { try made($0).valueNames }),
            attempt: job.attempts, files: files)
    }
}
