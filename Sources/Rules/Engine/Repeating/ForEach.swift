import Platform

/// `for-each`: steps repeated for each line or page of a file.
///
/// It is expanded when a job is planned (``Rule/plannedSteps(of:knowing:)``). Each repetition of a step becomes a
/// step of the job, with its own number, intent and receipt, so only planning knows about it. It runs as an action
/// only if it could not be expanded, to report why (docs/design/shape.md).
package struct ForEach: RuleAction {
    package struct Intent: Codable, Sendable {}

    package static let definition = ActionDefinition(ForEach.self) { _ in ForEach() }

    /// Upper limit for the number of lines or pages in a rule.
    static let mostItems = 10_000
    static let standardItems = 1_000

    package static let declaration = ActionDeclaration(
        name: "for-each",
        summary:
            "Does steps with each line of a file's text, or with each page of a PDF, in their order: with the first line all "
            + "of them, then with the second. What they use is fixed when the file has arrived. A file with more lines than "
            + "`most` is refused before anything is done with it. Only steps that may be done many times for one file can "
            + "stand here: "
            + "`append-block`, `convert`, `notify`, `publish`, `run` and `write-note`.",
        guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [
            ParameterSpec(
                "of", .choice(RepeatedItems.allCases.map(\.rawValue)), required: true,
                "`lines` of the text, as `contains` sees it; those that hold nothing but blanks are passed over. `pages` of "
                    + "a PDF, also those without text."),
            ParameterSpec(
                "skip", .integer(0...mostItems), default: "0",
                "So many lines or pages at the beginning are passed over: 1 for the head of a table."),
            ParameterSpec(
                "most", .integer(1...mostItems), default: String(standardItems),
                "A file with more lines or pages than this is refused."),
            ParameterSpec(
                "do", .steps, required: true,
                "The steps. Beside what the steps before `for-each` may use they know `line` and `line.number`, or "
                    + "`page.text` and `page.number`; what one of them finds out, those after it may use for the same line."
            ),
        ],
        example: "for-each: { of: lines, do: [{ append-block: { note: inbox, text: \"{{ line }}\" } }] }")

    /// Names of the values with the reason why it could not be expanded.
    private static let trouble = "for-each.trouble"
    private static let kind = "for-each.kind"

    /// The values that give the reason to the step.
    static func values(saying fault: Fault) -> Values {
        [trouble: .text(fault.message), kind: .text(fault.kind.rawValue)]
    }

    package var valueNames: Set<String> { [Self.trouble, Self.kind] }

    package func intent(for input: StepInput) async throws -> Intent {
        guard case .text(let message)? = input.values[Self.trouble], case .text(let word)? = input.values[Self.kind]
        else { throw Fault(.failed, "`for-each` has nothing to do; this is a bug") }
        throw Fault(Fault.Kind(rawValue: word) ?? .failed, message, path: input.file.absolute)
    }

    package func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt { Receipt("did nothing") }

    package func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery { .notDone }

    package func summary(of intent: Intent) -> String { "does nothing" }
}

/// A `for-each` step read from the rule.
package struct Repetition: Sendable {
    let items: RepeatedItems
    /// Number of items to skip at the beginning.
    let skipped: Int
    let most: Int
    package let steps: [StepTemplate]
}
