/// The steps in `for-each`.
extension StepLoader {
    /// The parsed `for-each`, or nil if it has errors.
    ///
    /// - Parameters:
    ///   - given: its parameters in the rule.
    ///   - arguments: the parsed parameters other than steps.
    ///   - known: values that are available or provided by earlier steps.
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

    /// Whether the action is allowed in this list of steps; reports an error if not.
    func mayStandHere(_ declaration: ActionDeclaration, at position: SourcePosition) -> Bool {
        let isForEach = declaration.name == ForEach.declaration.name
        if isForEach, key == "on-failure" {
            reader.report(
                position, "`for-each` is not allowed in `on-failure`",
                hint: "what follows a failure is about the file as a whole")
            return false
        }
        guard items != nil, !declaration.mayBeRepeated else { return true }
        let others = registry.definitions.map(\.declaration).filter(\.mayBeRepeated).map { "`\($0.name)`" }
        reader.report(
            position,
            "`\(declaration.name)` is not allowed in `for-each`"
                + (isForEach ? "" : ": it is about the file as a whole, which is there once"),
            hint: others.isEmpty ? nil : "allowed are: \(others.joined(separator: ", "))")
        return false
    }
}
