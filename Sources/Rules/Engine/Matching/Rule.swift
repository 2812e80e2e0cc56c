import Platform

/// A rule as it runs: read from a file, checked, compiled.
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
    /// SHA-256 of the rule's content, independent of comments, layout and position: a changed rule has another.
    package let digest: ContentHash
    package let places: [PlaceInfo]
    package let events: Set<FileEvent>
    package let condition: Condition
    /// Seconds that a file must have stood still.
    package let settle: Double
    /// As the rule says it; nil where the place decides, see ``existing(in:)``.
    package let existing: Existing?
    package let steps: [StepTemplate]
    /// What follows where one of `steps` fails for good or refuses the file.
    package let onFailure: [StepTemplate]
    /// As the rule says it; nil where the place decides, see ``refused(in:)``.
    package let refused: Refused?
    package let then: Then
    /// What `steward rules test` tries it with; the agent never looks at them.
    package let examples: [RuleExample]
    package let file: String
    package let position: SourcePosition
    /// What it is about.
    package var subject = RuleSubject.files
    /// When it runs over all files of its places.
    package var schedules: [Schedule] = []
    /// What its templates look values up in, by name. Not part of the digest: with another table it is the same rule.
    package var tables: [String: LookupTable] = [:]

    /// Whether what was there before the first start is processed.
    package func existing(in place: PlaceInfo) -> Existing { existing ?? (place.kind.isIncoming ? .process : .skip) }

    /// What happens to a file that an action refuses.
    package func refused(in place: PlaceInfo) -> Refused {
        // What follows a failure needs the file where it was; whole folders are not kept in quarantine.
        if subject == .folders { return .leave }
        return refused ?? (place.kind.isIncoming && onFailure.isEmpty ? .quarantine : .leave)
    }

    /// `steps` with those that stand in them.
    package var ownSteps: [StepTemplate] { steps.flatMap { [$0] + ($0.repetition?.steps ?? []) } }

    /// All that it may do.
    package var allSteps: [StepTemplate] { ownSteps + onFailure }

    /// The names of all values that the rule's steps use.
    package var valueNames: Set<String> { Set(allSteps.flatMap(\.valueNames)) }

    /// Whether it takes files away, and their age has a part in that.
    var mindsClock: Bool { condition.countsAge && allSteps.contains { $0.declaration.takesAway } }

    /// Whether the files that it wants are to be named neither in the ledger nor in logs.
    package var hidesNames: Bool { allSteps.contains { $0.action.hidesNames } }

    /// `rules.d/10-comics.yaml:4`.
    package var source: String { "\(file):\(position.line)" }
}

/// One entry of `do`: the action made once, for all files.
package struct StepTemplate: Sendable {
    /// From 0.
    package let index: Int
    package let action: any RuleAction
    package let declaration: ActionDeclaration
    package let arguments: Arguments
    /// The arguments as the ledger keeps them.
    let storedArguments: String
    /// Whether the rule says `repeat: safe`: an outcome that nobody knows is tried again instead of parked.
    package let repeatSafe: Bool
    package let position: SourcePosition
    /// What is to be done many times; nil for any step but `for-each`.
    package var repetition: Repetition?

    /// The names of the values that it uses, in templates or by itself.
    package var valueNames: Set<String> { arguments.valueNames.union(action.valueNames) }
}
