import Ledger
import Platform

/// One step and its phases. The order of decision, intent commit, effect and receipt commit is defined only here
/// (`docs/design/exactly-once.md`).
struct StepMachine {
    enum Phase {
        /// Interrupted by a crash; the outcome has to be determined.
        case recover
        /// Its rule has not been looked up yet: ``StepMachine/decide(by:later:)``.
        case undecided
        case decide(any RuleAction, JobExecutor.StepsLater)
        case commitIntent(Attempt)
        case perform(Attempt)
        case commitReceipt(Attempt, Receipt)
        case done
    }

    /// A decision, until it is carried out or replaced by another one.
    struct Attempt {
        let decided: DecidedStep
        let rows: StepRows
        /// Whether the action commits intent and receipt with its own journal.
        let isJournaled: Bool
    }

    let step: StepRecord
    /// The job after the completed phases.
    private(set) var job: JobAtWork
    private(set) var phase: Phase
    private let executor: JobExecutor
    private let files: HeldFiles
    private var decision = Phase.undecided
    private var decisions = 0
    /// The paths in work; nil if there are none.
    private var targets: [BytePath]?

    /// If others take the name that a step had decided on, it decides again immediately, up to this many times. If
    /// many jobs compete for one name, the job then goes back to the queue.
    private static let mostDecisions = 16

    init(_ executor: JobExecutor, _ step: StepRecord, of job: JobAtWork, _ files: HeldFiles) {
        (self.executor, self.step, self.job, self.files) = (executor, step, job, files)
        phase = step.state == .intended ? .recover : .undecided
    }

    var isDone: Bool { if case .done = phase { true } else { false } }

    /// - Parameter later: the steps after this one.
    mutating func decide(by action: any RuleAction, later: JobExecutor.StepsLater) {
        decision = .decide(action, later)
        phase = decision
    }

    /// Runs one phase.
    mutating func advance() async throws {
        do {
            phase = try await next()
            if isDone { rest() }
        } catch let fault as Fault
            where fault.code == Fault.nameTaken && decisions > 0 && decisions < Self.mostDecisions
        {
            rest()
            phase = decision
        } catch {
            rest()
            throw error
        }
    }

    private mutating func next() async throws -> Phase {
        switch phase {
        case .recover:
            return try await executor.recover(step, of: &job, files) ? .done : .undecided
        case .undecided, .done:
            return phase
        case .decide(let action, let later):
            await executor.hold.enter()
            targets = []
            decisions += 1
            let decided = try await action.decide(try executor.input(job, step, later, files), hiding: executor.names)
            executor.inWork.begin(decided.targets)
            targets = decided.targets
            let attempt = Attempt(
                decided: decided, rows: rows(decided, isLast: later.isNone),
                isJournaled: type(of: action).journalsItself)
            return attempt.isJournaled ? .perform(attempt) : .commitIntent(attempt)
        case .commitIntent(let attempt):
            let (executor, job) = (executor, job)
            try await executor.ledger.write { transaction in
                try executor.requireAtRest(job, attempt.decided.targets, in: transaction)
                try attempt.rows.begin(in: transaction)
            }
            return .perform(attempt)
        case .perform(let attempt):
            let own = (targets ?? []).filter { $0 == job.file.absolute }
            let receipt = try await attempt.decided.perform(
                StepContext(
                    jobID: job.record.id, stepID: step.id, attempt: job.record.attempts, files: files,
                    rows: attempt.isJournaled ? attempt.rows : nil,
                    calls: executor.calls.line(of: job.record, own, executor.inWork)))
            return .commitReceipt(attempt, receipt)
        case .commitReceipt(let attempt, let receipt):
            if let wait = receipt.wait {
                try await executor.writePart(receipt, step, job)
                throw wait.fault
            }
            if !attempt.rows.isEnded {
                try await executor.ledger.write { transaction in
                    // The effect happened before.
                    if attempt.isJournaled { try attempt.rows.begin(in: transaction) }
                    try attempt.rows.end(receipt, in: transaction)
                }
            }
            job = attempt.rows.ended ?? job
            executor.tell(receipt.summary, step, job)
            return .done
        }
    }

    private func rows(_ decided: DecidedStep, isLast: Bool) -> StepRows {
        let (executor, step, job) = (executor, step, job)
        return StepRows { transaction in
            try transaction.setIntent(step, decided.json, texts: decided.texts)
        } end: { receipt, transaction in
            try executor.write(receipt, step, job, isLast: isLast, in: transaction)
        }
    }

    /// Ends the work on its paths.
    private mutating func rest() {
        guard let begun = targets else { return }
        targets = nil
        executor.inWork.end(begun)
        executor.hold.leave()
    }
}
