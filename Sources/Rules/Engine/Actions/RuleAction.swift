import Platform

/// What a rule's `do:` can name: one step's effect on the world, done exactly as often as its guarantee says.
///
/// The runner calls, in this order: ``intent(for:)`` (reads and decides, changes nothing), commits the intent to the
/// ledger, ``perform(_:_:)``, commits the receipt. After a crash between the two commits it calls ``settle(_:_:)``
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
    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt

    /// After a crash: was it done? A half-done effect is finished or taken back here.
    func settle(_ intent: Intent, _ context: StepContext) async throws -> Settlement

    /// Takes the effect back, where nobody has built on it since. Called again after a crash, with
    /// ``StepContext/resumesUndo``, it finishes what was begun and ends in the same state.
    ///
    /// - Throws: `Fault(.failed)` saying why it cannot be taken back; nothing is changed then.
    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt

    /// The absolute paths that `perform` may make, change or remove: not judged while it is at work there.
    func targets(of intent: Intent) -> [BytePath]

    /// The names of the places that `perform` may put something into, beside the file's own; for `check`.
    var destinations: [String] { get }

    /// One line for `explain` and dry runs: what `perform` would do.
    func summary(of intent: Intent) -> String

    /// Whether the files of its rule are to be named neither in the ledger nor in logs.
    var hidesNames: Bool { get }

    /// Which limit this step counts against; the declaration's, unless the parameters ask for more.
    var work: WorkKind { get }
}

extension RuleAction {
    package static var journalsItself: Bool { false }

    package func targets(of intent: Intent) -> [BytePath] { [] }

    package var destinations: [String] { [] }

    package var hidesNames: Bool { false }

    package var work: WorkKind { Self.declaration.work }

    package func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        throw Fault(.failed, "`\(Self.declaration.name)` cannot be undone")
    }
}

/// How often an effect may happen when the agent is killed at the worst moment (docs/design/exactly-once.md).
package enum Guarantee: String, Sendable, Codable {
    case exactlyOnce = "exactly once"
    case atLeastOnce = "at least once"
    case atMostOnce = "at most once"
}

/// Which limit a step counts against.
package enum WorkKind: String, Sendable, Codable, CaseIterable {
    case disk, cpu, network, model, process
}

package struct ActionDeclaration: Sendable {
    /// As rule files write it: `append-block`.
    package let name: String
    /// One sentence for the manual and the schema.
    package let summary: String
    package let guarantee: Guarantee
    package let work: WorkKind
    package let canUndo: Bool
    package let parameters: [ParameterSpec]
    /// The names that later steps may use in templates: `capture.id`.
    package let provides: [ValueSpec]
    /// A `do:` entry that is valid YAML, for the manual; `check` loads it in a test.
    package let example: String

    package init(
        name: String, summary: String, guarantee: Guarantee, work: WorkKind, canUndo: Bool, parameters: [ParameterSpec],
        provides: [ValueSpec] = [], example: String
    ) {
        self.name = name
        self.summary = summary
        self.guarantee = guarantee
        self.work = work
        self.canUndo = canUndo
        self.parameters = parameters
        self.provides = provides
        self.example = example
    }
}

/// One parameter of an action: its name, type and meaning, from which loader, schema and manual are made.
package struct ParameterSpec: Sendable {
    package enum Kind: Sendable {
        /// Text with `{{ values }}`, rendered when the step runs.
        case template
        /// A list of such texts.
        case templateList
        /// Text as it stands, without `{{ }}`.
        case literal
        /// One of these words.
        case choice([String])
        case boolean
        case integer(ClosedRange<Int>)
        /// Seconds, written `2s`, `1.5m`, `500ms`, `1h`, `7d`.
        case duration
        /// The name of a configured place.
        case place
        /// Names to templates.
        case templateMap
    }

    package let name: String
    package let kind: Kind
    package let required: Bool
    /// As it would be written; for the manual and for ``Arguments``.
    package let defaultValue: String?
    /// A parameter which, where it is given, leaves this one without its default.
    package let unless: String?
    package let summary: String

    package init(
        _ name: String, _ kind: Kind, required: Bool = false, default defaultValue: String? = nil,
        unless: String? = nil, _ summary: String
    ) {
        self.unless = unless
        self.name = name
        self.kind = kind
        self.required = required
        self.defaultValue = defaultValue
        self.summary = summary
    }
}

/// A name that templates may use.
package struct ValueSpec: Sendable {
    package let name: String
    package let summary: String
    /// Whether the action finds it out before it decides, so that its own parameters may use it, too.
    package let isForOwnStep: Bool

    package init(_ name: String, _ summary: String, isForOwnStep: Bool = false) {
        self.name = name
        self.summary = summary
        self.isForOwnStep = isForOwnStep
    }
}

/// An action as the loader sees it: its declaration, and how one is made from checked arguments.
package struct ActionDefinition: Sendable {
    package let declaration: ActionDeclaration
    /// - Throws: ``ArgumentFault`` where the arguments, each valid alone, do not go together.
    package let make: @Sendable (Arguments) throws -> any RuleAction

    package init<A: RuleAction>(_ type: A.Type, make: @escaping @Sendable (Arguments) throws -> A) {
        declaration = A.declaration
        self.make = make
    }
}

/// Says of one parameter what is wrong with it; the loader adds file, line and column.
package struct ArgumentFault: Error, Sendable {
    package let parameter: String
    package let message: String

    package init(_ parameter: String, _ message: String) {
        self.parameter = parameter
        self.message = message
    }
}

/// All actions that rules can name, and those that have been made for rules.
package struct ActionRegistry: Sendable {
    package let definitions: [ActionDefinition]
    let made = MadeActions()
    private let byName: [String: ActionDefinition]

    /// - Precondition: no two definitions share a name.
    package init(_ definitions: [ActionDefinition]) {
        self.definitions = definitions.sorted { $0.declaration.name < $1.declaration.name }
        byName = Dictionary(uniqueKeysWithValues: definitions.map { ($0.declaration.name, $0) })
    }

    package subscript(name: String) -> ActionDefinition? { byName[name] }
    package var names: [String] { definitions.map(\.declaration.name) }
}

/// The file that a job is about, where it lies now.
package struct FileReference: Sendable, Codable, Equatable {
    package var place: String
    package var root: BytePath
    /// Below `root`.
    package var path: BytePath
    package var fingerprint: Fingerprint?
    /// Nil for a file that was removed.
    package var hash: ContentHash?

    package var absolute: BytePath { root.appending(path) }

    private enum CodingKeys: String, CodingKey {
        case place, root, path, fingerprint, hash
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        place = try container.decode(String.self, forKey: .place)
        root = try container.decode(BytePath.self, forKey: .root)
        path = try container.decode(BytePath.self, forKey: .path)
        fingerprint = try container.decodeIfPresent(Fingerprint.self, forKey: .fingerprint)
        hash = try container.decodeIfPresent(ContentHash.self, forKey: .hash)
        if let coding = PathCoding.of(decoder.userInfo) {
            path = coding.decode(root.appending(path)).relative(to: root) ?? path
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(place, forKey: .place)
        try container.encode(root, forKey: .root)
        // An absolute path is what the encoder may be told to write in another form.
        let written = try PathCoding.of(encoder.userInfo)?.encode(absolute).relative(to: root)
        try container.encode(written ?? path, forKey: .path)
        try container.encodeIfPresent(fingerprint, forKey: .fingerprint)
        try container.encodeIfPresent(hash, forKey: .hash)
    }

    package init(place: String, root: BytePath, path: BytePath, fingerprint: Fingerprint?, hash: ContentHash?) {
        self.place = place
        self.root = root
        self.path = path
        self.fingerprint = fingerprint
        self.hash = hash
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
    /// Through which the job's files are reached; the same for all its steps.
    package let files: HeldFiles
    /// For an action that journals itself.
    package let rows: StepRows?

    package init(
        jobID: String, stepID: String, attempt: Int, resumesUndo: Bool = false, files: HeldFiles,
        rows: StepRows? = nil
    ) {
        self.files = files
        self.rows = rows
        self.jobID = jobID
        self.stepID = stepID
        self.attempt = attempt
        self.resumesUndo = resumesUndo
    }
}

/// What happened to a file of a place at the file's new and old name: the ledger learns from it which versions are
/// the agent's own, so that it never takes its own writing for news.
package enum FileEffect: Sendable, Codable, Equatable {
    case created(BytePath, Fingerprint, ContentHash)
    /// `base` is the content that was there before.
    case wrote(BytePath, base: ContentHash, Fingerprint, ContentHash)
    case moved(BytePath, to: BytePath, Fingerprint, ContentHash)
    case removed(BytePath)
    /// Only attributes changed.
    case touched(BytePath, Fingerprint, ContentHash)
}

/// What a step leaves behind: committed to the ledger after its effect is durable.
package struct Receipt: Sendable, Codable, Equatable {
    /// One line for `steward log`.
    package var summary: String
    /// For the templates of later steps.
    package var values: Values
    package var effects: [FileEffect]

    package init(_ summary: String, values: Values = [:], effects: [FileEffect] = []) {
        self.summary = summary
        self.values = values
        self.effects = effects
    }
}

package enum Settlement: Sendable {
    case done(Receipt)
    /// Nothing is left of it: decide and perform again.
    case notDone
    /// Nobody can know; parked for a human, who is told this.
    case unknown(String)
}

/// What happened to a file, as rules name it.
package enum FileEvent: String, Sendable, Codable, CaseIterable {
    case arrived, changed, renamed, removed
}
