/// The steps that stand in `for-each`.
extension StepLoader {
    /// What `for-each` says, where all of it can be read.
    ///
    /// - Parameters:
    ///   - given: its parameters as they stand in the rule.
    ///   - arguments: those of them that are no steps, read.
    ///   - known: the values that the steps before it provide, and those that are there before.
    func repetition(
        _ given: YamlMapping, _ arguments: [String: Arguments.Argument], known: Set<String>
    ) -> Repetition? {
        guard let node = given["do"] else { return nil }
        guard case .literal(let word)? = arguments["of"], let items = RepeatedItems(rawValue: word) else { return nil }
        var inner = self
        inner.key = "do"
        inner.items = items
        inner.providedBefore = known
        guard let steps = inner.steps(node), case .integer(let skipped)? = arguments["skip"],
            case .integer(let most)? = arguments["most"]
        else { return nil }
        return Repetition(items: items, skipped: skipped, most: most, steps: steps)
    }

    /// Whether the action may stand in this list of steps; where not, that is reported.
    func mayStandHere(_ declaration: ActionDeclaration, at position: SourcePosition) -> Bool {
        let isForEach = declaration.name == ForEach.declaration.name
        if isForEach, key == "on-failure" {
            reader.report(
                position, "`for-each` cannot stand in `on-failure`",
                hint: "what follows a failure is about the file as a whole")
            return false
        }
        guard items != nil, !declaration.mayBeRepeated else { return true }
        let others = registry.definitions.map(\.declaration).filter(\.mayBeRepeated).map { "`\($0.name)`" }
        reader.report(
            position,
            "`\(declaration.name)` cannot stand in `for-each`"
                + (isForEach ? "" : ": it is about the file as a whole, which is there once"),
            hint: others.isEmpty ? nil : "what may stand there: \(others.joined(separator: ", "))")
        return false
    }
}
