import Platform

/// A loaded, checked and compiled rule.
package struct Rule: Sendable {
    package enum Existing: String, Sendable, Codable, CaseIterable {
        case process, skip
    }

    package enum Refused: String, Sendable, Codable, CaseIterable {
        case quarantine, leave
    }

    package enum Then: String, Sendable, Codable, CaseIterable {
        case `continue`, stop
    }

    package let name: String
    /// SHA-256 of the rule's content, ignoring comments, layout and position. Changes with the rule.
    package let digest: ContentHash
    package let places: [PlaceInfo]
    package let events: Set<FileEvent>
    package let condition: Condition
    /// Seconds without changes before the file counts as settled.
    package let settle: Double
    /// As set in the rule; nil for the place's default, see ``existing(in:)``.
    package let existing: Existing?
    package let steps: [StepTemplate]
    /// The steps that run if one of `steps` fails for good or refuses the file.
    package let onFailure: [StepTemplate]
    /// As set in the rule; nil for the place's default, see ``refused(in:)``.
    package let refused: Refused?
    package let then: Then
    /// Used by `steward rules test`; the agent ignores them.
    package let examples: [RuleExample]
    package let file: String
    package let position: SourcePosition
    /// What it is about.
    package var subject = RuleSubject.files
    /// When it runs over all files of its places.
    package var schedules: [Schedule] = []
    /// Lookup tables by name, for templates. Not part of the digest: editing a table does not change the rule.
    package var tables: [String: LookupTable] = [:]

    /// Whether files from before the first start are processed.
    package func existing(in place: PlaceInfo) -> Existing { existing ?? (place.kind.isIncoming ? .process : .skip) }

    /// What happens to a file that an action refuses.
    package func refused(in place: PlaceInfo) -> Refused {
        // The `on-failure` steps need the file in place, and folders are not quarantined.
        if subject == .folders { return .leave }
        return refused ?? (place.kind.isIncoming && onFailure.isEmpty ? .quarantine : .leave)
    }

    /// `steps`, including nested ones.
    package var ownSteps: [StepTemplate] { steps.flatMap { [$0] + ($0.repetition?.steps ?? []) } }

    /// All steps that it may run.
    package var allSteps: [StepTemplate] { ownSteps + onFailure }

    /// The names of all values that its steps use.
    package var valueNames: Set<String> { Set(allSteps.flatMap(\.valueNames)) }

    /// Whether it removes files based on their age.
    var mindsClock: Bool { condition.countsAge && allSteps.contains { $0.declaration.takesAway } }

    /// Whether the names of its files must not appear in the ledger or in logs.
    package var hidesNames: Bool { allSteps.contains { $0.action.hidesNames } }

    /// `rules.d/10-comics.yaml:4`.
    package var source: String { "\(file):\(position.line)" }
}

/// One entry of `do`. Its action is created once, for all files.
package struct StepTemplate: Sendable {
    /// Zero-based.
    package let index: Int
    package let action: any RuleAction
    package let declaration: ActionDeclaration
    package let arguments: Arguments
    /// The arguments as stored in the ledger.
    let storedArguments: String
    /// Whether the rule says `repeat: safe`: after an unknown outcome the step is retried instead of parked.
    package let repeatSafe: Bool
    package let position: SourcePosition
    /// The nested steps; nil except for `for-each`.
    package var repetition: Repetition?

    /// The names of the values that it uses, in templates or in code.
    package var valueNames: Set<String> { arguments.valueNames.union(action.valueNames) }
}
