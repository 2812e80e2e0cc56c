import Platform

/// What a rule's `do:` can name: one step's effect on the world, done exactly as often as its guarantee says.
///
/// The runner calls, in this order: ``intent(for:)`` (reads and decides, changes nothing), commits the intent to the
/// ledger, ``perform(_:_:)``, commits the receipt. After a crash between the two commits it calls ``recover(_:_:)``
/// instead. An action is made once for each step of each rule when rules are loaded and is shared by all files.
package protocol RuleAction: Sendable {
    /// What is to be done, complete: everything that `perform` needs, with the hash of what was read. Stored as JSON.
    associatedtype Intent: Codable & Sendable

    /// Name, parameters and guarantee: what the loader, the schema and the manual know of it.
    static var declaration: ActionDeclaration { get }

    /// Whether `perform` writes its intent itself, before the effect begins, by ``StepContext/rows``; and its receipt, as
    /// a rule, when the effect is durable.
    static var journalsItself: Bool { get }

    /// Reads and decides; must not change anything outside the process. A dry run stops here.
    ///
    /// - Throws: `Fault`: `.refused` where the file is at fault, `.transient` to be asked again later.
    func intent(for input: StepInput) async throws -> Intent

    /// Does it. Called again with the same intent it must end in the same state and give an equal receipt.
    ///
    /// - Throws: `Fault`; ``Fault/nameTaken(_:)`` where what the intent has decided does not hold any more, and nothing has been
    ///   done: then the step is decided anew at once.
    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt

    /// After a crash: was it done? A half-done effect is finished or rolled back here.
    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery

    /// Reverts the effect, where nobody has built on it since. Called again after a crash, with
    /// ``StepContext/resumesUndo``, it finishes what was begun and ends in the same state.
    ///
    /// - Throws: `Fault(.failed)` saying why it cannot be reverted; nothing is changed then.
    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt

    /// The absolute paths that `perform` may make, change or remove: not judged while it is at work there.
    func targets(of intent: Intent) -> [BytePath]

    /// The names of the places that `perform` may put something into, beside the file's own; for `check`.
    var destinations: [String] { get }

    /// One line for `explain` and dry runs: what `perform` would do.
    func summary(of intent: Intent) -> String

    /// Where files would lie once it was carried out; nil where that is not told.
    func forecast(of intent: Intent) -> Forecast?

    /// Whether its arguments go together with what its rule is about; asked when the rule is loaded.
    ///
    /// - Throws: ``ArgumentFault``.
    func check(_ subject: RuleSubject) throws

    /// Whether the files of its rule are to be named neither in the ledger nor in logs.
    var hidesNames: Bool { get }

    /// Which limit this step counts against; the declaration's, unless the parameters ask for more.
    var work: WorkKind { get }

    /// The names of values that it reads besides those that its templates name.
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
    /// The ``code`` of a step that found a name taken which was free when the step was decided, or another file there.
    package static let nameTaken = "name-taken"

    package static func nameTaken(_ path: BytePath) -> Fault {
        Fault(.transient, "\(path) was taken by another file just now", path: path, code: nameTaken)
    }
}

/// What an action is told when it decides.
package struct StepInput: Sendable {
    /// Derived from rule, digest, place, path, content and arrival: the same after every restart.
    package let jobID: String
    /// The job's id and the step's number; unique among all effects.
    package let stepID: String
    package let rule: String
    package let event: FileEvent
    package let file: FileReference
    /// When the file settled; every time that lands in a note or a name comes from here, never from the clock.
    package let arrival: Timestamp
    package let values: Values
    /// The names of the values that later steps use; nil where that is not known.
    package let namesUsedLater: Set<String>?
    /// How often the job was tried before, in vain.
    package let attempt: Int
    /// Through which the job's files are reached; the same for all its steps.
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

/// What an action is told when it acts.
package struct StepContext: Sendable {
    package let jobID: String
    package let stepID: String
    /// How often this step was tried before.
    package let attempt: Int
    /// For `undo`: it was begun before and cut off, so what is taken back already counts as taken back now.
    package let resumesUndo: Bool
    /// For `undo`: the job's file where it lies now, which later steps may have moved.
    package let file: FileReference?
    /// Through which the job's files are reached; the same for all its steps.
    package let files: HeldFiles
    /// For an action that journals itself.
    package let rows: StepRows?

    package init(
        jobID: String, stepID: String, attempt: Int, resumesUndo: Bool = false, file: FileReference? = nil,
        files: HeldFiles, rows: StepRows? = nil
    ) {
        self.file = file
        self.files = files
        self.rows = rows
        self.jobID = jobID
        self.stepID = stepID
        self.attempt = attempt
        self.resumesUndo = resumesUndo
    }
}
