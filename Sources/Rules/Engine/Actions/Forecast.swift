import Platform

/// Where files would lie once a step was carried out, as its intent tells: for `steward rules try`, which carries out
/// nothing.
package struct Forecast: Sendable {
    package enum Change: Sendable {
        case moves(to: BytePath, IfTaken)
        case makes(BytePath, IfTaken, ContentHash)
        case trashes
        case removes
        /// A note gets the text.
        case writes(BytePath, String)
    }

    /// What is done where the name is taken.
    package enum IfTaken: Sendable {
        /// The next of `name (1).ext`, `name (2).ext` and so on is taken.
        case takesAnotherName
        case leaves
        /// As `leaves` where the very content lies there, else as `takesAnotherName`.
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
    /// Nil where the action does not say.
    package let forecast: Forecast?
}

extension RuleAction {
    /// What it would do, with where files would lie; nothing is done.
    package func rehearse(_ input: StepInput) async throws -> DryRun {
        let intent = try await intent(for: input)
        return DryRun(summary: summary(of: intent), forecast: forecast(of: intent))
    }
}
