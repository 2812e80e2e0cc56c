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
    /// As the rule says it; nil where the place decides, see ``refused(in:)``.
    package let refused: Refused?
    package let then: Then
    package let file: String
    package let position: SourcePosition

    /// Whether what was there before the first start is processed.
    package func existing(in place: PlaceInfo) -> Existing { existing ?? (place.kind.takesIn ? .process : .skip) }

    /// What happens to a file that an action refuses.
    package func refused(in place: PlaceInfo) -> Refused { refused ?? (place.kind.takesIn ? .quarantine : .leave) }

    /// The names of all values that the rule's templates use.
    package var valueNames: Set<String> { Set(steps.flatMap(\.arguments.valueNames)) }

    /// Whether the files that it wants are to be named neither in the ledger nor in logs.
    package var hidesNames: Bool { steps.contains { $0.action.hidesNames } }

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
}
