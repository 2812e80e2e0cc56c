import Platform

/// `for-each`: steps that are done with each line or page of a file.
///
/// It is spread out when a job is planned (``Rule/plannedSteps(of:knowing:)``): each step with each line is a step of the
/// job, with a number, an intent and a receipt of its own. So nothing of the engine but the planning knows of it, and as an
/// action it is carried out only where it could not be spread out, to say why (docs/design/shape.md).
package struct ForEach: RuleAction {
    package struct Intent: Codable, Sendable {}

    package static let definition = ActionDefinition(ForEach.self) { _ in ForEach() }

    /// The most lines or pages that a rule can ask for.
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

    /// Why it could not be spread out: the names of the values that say so.
    private static let trouble = "for-each.trouble"
    private static let kind = "for-each.kind"

    /// What tells the step why it is not carried out.
    static func values(saying fault: Fault) -> Values {
        [trouble: .text(fault.message), kind: .text(fault.kind.rawValue)]
    }

    package var valueNames: Set<String> { [Self.trouble, Self.kind] }

    package func intent(for input: StepInput) async throws -> Intent {
        guard case .text(let message)? = input.values[Self.trouble], case .text(let word)? = input.values[Self.kind]
        else { throw Fault(.failed, "`for-each` was not told what to do; this is a bug") }
        throw Fault(Fault.Kind(rawValue: word) ?? .failed, message, path: input.file.absolute)
    }

    package func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt { Receipt("did nothing") }

    package func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery { .notDone }

    package func summary(of intent: Intent) -> String { "does nothing" }
}

/// What a step `for-each` says, read from the rule.
package struct Repetition: Sendable {
    let items: RepeatedItems
    /// How many are passed over at the beginning.
    let skipped: Int
    let most: Int
    package let steps: [StepTemplate]
}
