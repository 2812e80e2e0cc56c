package struct ActionDeclaration: Sendable {
    /// As rule files write it: `append-block`.
    package let name: String
    /// One sentence for the manual and the schema.
    package let summary: String
    package let guarantee: Guarantee
    package let work: WorkKind
    /// What it can be done with; the loader refuses it in a rule about something else.
    package let takes: RuleSubjects
    package let canUndo: Bool
    /// Whether what it does is lost for good: the loader asks the rule for an `age`, or for a step `confirm` before it.
    package let isIrrevocable: Bool
    /// Whether the file is gone from where it was, though nobody has it elsewhere: no wrong clock must bring that about.
    package let takesAway: Bool
    /// Whether it may be done many times for one file, with each line or page of it (``ForEach``): what is about the file as
    /// a whole may not.
    package let mayBeRepeated: Bool
    package let parameters: [ParameterSpec]
    /// The names that later steps may use in templates: `capture.id`.
    package let provides: [ValueSpec]
    /// A `do:` entry that is valid YAML, for the manual; `check` loads it in a test.
    package let example: String

    package init(
        name: String, summary: String, guarantee: Guarantee, work: WorkKind, canUndo: Bool, isIrrevocable: Bool = false,
        takesAway: Bool = false,
        mayBeRepeated: Bool = false, takes: RuleSubjects = .files, parameters: [ParameterSpec],
        provides: [ValueSpec] = [], example: String
    ) {
        self.name = name
        self.summary = summary
        self.guarantee = guarantee
        self.work = work
        self.canUndo = canUndo
        self.isIrrevocable = isIrrevocable
        self.takesAway = takesAway || isIrrevocable
        self.mayBeRepeated = mayBeRepeated
        self.takes = takes
        self.parameters = parameters
        self.provides = provides
        self.example = example
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
        /// A list of steps; the loader reads it, and ``Arguments`` does not hold it.
        case steps
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
    /// Whether it is somebody's words that another store holds: the ledger has them only while the job runs, so that they
    /// are gone when they are deleted there.
    package let isKeptElsewhere: Bool

    package init(_ name: String, _ summary: String, isForOwnStep: Bool = false, isKeptElsewhere: Bool = false) {
        self.name = name
        self.summary = summary
        self.isForOwnStep = isForOwnStep
        self.isKeptElsewhere = isKeptElsewhere
    }
}
