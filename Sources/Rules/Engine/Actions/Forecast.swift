import Platform

/// Where files would be after a step, derived from its intent. For `steward rules try`, which runs nothing.
package struct Forecast: Sendable {
    package enum Change: Sendable {
        case moves(to: BytePath, IfTaken)
        case makes(BytePath, IfTaken, ContentHash)
        case trashes
        case removes
        /// The text is written to a note.
        case writes(BytePath, String)
    }

    /// What happens if the name is taken.
    package enum IfTaken: Sendable {
        /// Uses the next free name: `name (1).ext`, `name (2).ext` and so on.
        case takesAnotherName
        case leaves
        /// Like `leaves` if the existing file has the same content, otherwise like `takesAnotherName`.
        case leavesSame
        case replaces
    }

    package var changes: [Change]

    package init(_ changes: [Change] = []) { self.changes = changes }
}

/// What a step would do.
package struct DryRun: Sendable {
    /// One line.
    package let summary: String
    /// nil if the action gives none.
    package let forecast: Forecast?
}

extension RuleAction {
    /// What the action would do, and where files would be. Has no effect.
    package func rehearse(_ input: StepInput) async throws -> DryRun {
        let intent = try await intent(for: input)
        return DryRun(summary: summary(of: intent), forecast: forecast(of: intent))
    }
}
