import Platform

/// An action for `do:`: the effect of one step, which happens as often as its guarantee says.
///
/// The runner calls ``intent(for:)``, which reads and decides but changes nothing, and commits the intent to the
/// ledger. Then it calls ``perform(_:_:)`` and commits the receipt. After a crash between the two commits it calls
/// ``recover(_:_:)`` instead. One instance per step of a rule is created when rules are loaded, for all files.
package protocol RuleAction: Sendable {
    /// The complete decision: everything that `perform` needs, with the hash of the input. Stored as JSON.
    associatedtype Intent: Codable & Sendable

    /// Name, parameters and guarantee, for the loader, the schema and the manual.
    static var declaration: ActionDeclaration { get }

    /// Whether `perform` writes its intent itself through ``StepContext/rows``, before the effect begins; and usually
    /// also its receipt, once the effect is durable.
    static var journalsItself: Bool { get }

    /// Reads and decides; must not change anything outside the process. A dry run stops here.
    ///
    /// - Throws: `Fault`: `.refused` if the file is at fault, `.transient` to be retried later.
    func intent(for input: StepInput) async throws -> Intent

    /// Performs the effect. Repeated with the same intent, it must end in the same state and return an equal receipt.
    ///
    /// - Throws: `Fault`; ``Fault/nameTaken(_:)`` if the decision does not hold any more and nothing has been done.
    ///   The step is then decided again immediately.
    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt

    /// After a crash, determines whether it was done, and finishes or rolls back a partial effect.
    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery

    /// Reverts the effect, unless others have built on it since. Called again after a crash, with
    /// ``StepContext/resumesUndo``, it finishes the undo and ends in the same state.
    ///
    /// - Throws: `Fault(.failed)` with the reason if it cannot be reverted; nothing is changed then.
    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt

    /// The absolute paths that `perform` may create, change or remove. They are not judged while it runs.
    func targets(of intent: Intent) -> [BytePath]

    /// Names of the places that `perform` may write to, besides the file's own; for `check`.
    var destinations: [String] { get }

    /// One line for `explain` and dry runs: what `perform` would do.
    func summary(of intent: Intent) -> String

    /// Where files would be afterwards; nil if not known.
    func forecast(of intent: Intent) -> Forecast?

    /// Checks the arguments against the subject of the rule, when the rule is loaded.
    ///
    /// - Throws: ``ArgumentFault``.
    func check(_ subject: RuleSubject) throws

    /// Whether the names of its rule's files must not appear in the ledger or in logs.
    var hidesNames: Bool { get }

    /// The limit that this step counts against; the declaration's, unless the parameters require more.
    var work: WorkKind { get }

    /// The names of values that it reads besides those in its templates.
    var valueNames: Set<String> { get }
}

extension RuleAction {
    package static var journalsItself: Bool { false }

    package func targets(of intent: Intent) -> [BytePath] { [] }

    package var destinations: [String] { [] }

    package func forecast(of intent: Intent) -> Forecast? { nil }

    package func check(_ subject: RuleSubject) throws {}

    package var hidesNames: Bool { false }

    package var work: WorkKind { Self.declaration.work }

    package var valueNames: Set<String> { [] }

    package func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        throw Fault(.failed, "`\(Self.declaration.name)` cannot be undone")
    }
}

extension Fault {
    /// The ``code`` of a step whose chosen name has been taken since, or whose file there was replaced.
    package static let nameTaken = "name-taken"

    package static func nameTaken(_ path: BytePath) -> Fault {
        Fault(.transient, "\(path) has just been taken by another file", path: path, code: nameTaken)
    }
}

/// The input for an action's decision.
package struct StepInput: Sendable {
    /// Derived from rule, digest, place, path, content and arrival, so it is the same after every restart.
    package let jobID: String
    /// The job's id and the step's number; unique among all effects.
    package let stepID: String
    package let rule: String
    package let event: FileEvent
    package let file: FileReference
    /// When the file settled. Times in notes and names always come from here, never from the clock.
    package let arrival: Timestamp
    package let values: Values
    /// The names of the values that later steps use; nil if not known.
    package let namesUsedLater: Set<String>?
    /// Number of failed tries of the job.
    package let attempt: Int
    /// Access to the job's files; shared by all its steps.
    package let files: HeldFiles

    package init(
        jobID: String, stepID: String, rule: String, event: FileEvent, file: FileReference, arrival: Timestamp,
        values: Values, namesUsedLater: Set<String>? = nil, attempt: Int = 0, files: HeldFiles
    ) {
        self.files = files
        self.attempt = attempt
        self.namesUsedLater = namesUsedLater
        self.jobID = jobID
        self.stepID = stepID
        self.rule = rule
        self.event = event
        self.file = file
        self.arrival = arrival
        self.values = values
    }
}

/// The context for an action's effect.
package struct StepContext: Sendable {
    package let jobID: String
    package let stepID: String
    /// Number of earlier tries of this step.
    package let attempt: Int
    /// For `undo`: an earlier call was interrupted, so parts that are already undone count as undone by this one.
    package let resumesUndo: Bool
    /// For `undo`: the job's file where it is now; later steps may have moved it.
    package let file: FileReference?
    /// Access to the job's files; shared by all its steps.
    package let files: HeldFiles
    /// For an action that journals itself.
    package let rows: StepRows?
    private let calls: CurrentCalls.Line?

    package init(
        jobID: String, stepID: String, attempt: Int, resumesUndo: Bool = false, file: FileReference? = nil,
        files: HeldFiles, rows: StepRows? = nil, calls: CurrentCalls.Line? = nil
    ) {
        self.calls = calls
        self.file = file
        self.files = files
        self.rows = rows
        self.jobID = jobID
        self.stepID = stepID
        self.attempt = attempt
        self.resumesUndo = resumesUndo
    }

    /// Runs a call whose result is of no use once the job's file has changed. A newer job of the rule for the file
    /// cancels it.
    ///
    /// - Throws: errors of `body`; `Fault(.superseded)` if there is such a job, once the cancelled call has ended.
    package func whileCurrent<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
        guard let calls else { return try await body() }
        return try await calls.run(body)
    }
}
