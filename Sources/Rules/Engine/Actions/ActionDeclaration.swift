package struct ActionDeclaration: Sendable {
    /// Its name in rule files: `append-block`.
    package let name: String
    /// One sentence for the manual and the schema.
    package let summary: String
    package let guarantee: Guarantee
    package let work: WorkKind
    /// The subjects it supports; the loader rejects it in other rules.
    package let takes: RuleSubjects
    package let canUndo: Bool
    /// Whether it destroys something for good: the loader then requires the rule to have an `age`, or a `confirm`
    /// step before it.
    package let isIrrevocable: Bool
    /// Whether it deletes or trashes the file. A wrong clock must not trigger that (docs/design/time.md).
    package let takesAway: Bool
    /// Whether it can run many times for one file, once per line or page (``ForEach``). An action on the file as a
    /// whole cannot.
    package let mayBeRepeated: Bool
    package let parameters: [ParameterSpec]
    /// The values that later steps may use in templates: `capture.id`.
    package let provides: [ValueSpec]
    /// A valid YAML `do:` entry for the manual; a test loads it with `check`.
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

/// How often an effect may happen if the agent is killed at the worst moment (docs/design/exactly-once.md).
package enum Guarantee: String, Sendable, Codable {
    case exactlyOnce = "exactly once"
    case atLeastOnce = "at least once"
    case atMostOnce = "at most once"
}

/// The limit that a step counts against.
package enum WorkKind: String, Sendable, Codable, CaseIterable {
    case disk, cpu, network, model, process
}

/// Name, type and meaning of an action's parameter, for loader, schema and manual.
package struct ParameterSpec: Sendable {
    package enum Kind: Sendable {
        /// Text with `{{ values }}`, rendered when the step runs.
        case template
        /// A list of such texts.
        case templateList
        /// Plain text, without `{{ }}`.
        case literal
        /// One of these words.
        case choice([String])
        case boolean
        case integer(ClosedRange<Int>)
        /// Seconds, written as `2s`, `1.5m`, `500ms`, `1h`, `7d`.
        case duration
        /// The name of a configured place.
        case place
        /// A map from names to templates.
        case templateMap
        /// A list of steps, read by the loader; not part of ``Arguments``.
        case steps
    }

    package let name: String
    package let kind: Kind
    package let required: Bool
    /// In rule file syntax; for the manual and for ``Arguments``.
    package let defaultValue: String?
    /// A parameter that suppresses this default if present.
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
    /// Whether the action determines it before deciding, so that its own parameters may use it too.
    package let isForOwnStep: Bool
    /// Whether it is text that another store holds. The ledger keeps it only while the job runs, so that deleting it
    /// there deletes it for good.
    package let isKeptElsewhere: Bool

    package init(_ name: String, _ summary: String, isForOwnStep: Bool = false, isKeptElsewhere: Bool = false) {
        self.name = name
        self.summary = summary
        self.isForOwnStep = isForOwnStep
        self.isKeptElsewhere = isKeptElsewhere
    }
}
