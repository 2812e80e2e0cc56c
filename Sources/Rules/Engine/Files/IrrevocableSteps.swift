/// Irrevocable steps must not run on a new file unless a person is asked.
extension StepLoader {
    /// The action that asks a person.
    private static let confirmation = "confirm"

    /// Whether the step is allowed here; reports an error if not.
    func isAllowed(_ step: StepTemplate, after earlier: [StepTemplate]) -> Bool {
        guard step.declaration.isIrrevocable, !asksForAge,
            !earlier.contains(where: { $0.declaration.name == Self.confirmation })
        else { return true }
        reader.report(
            step.position,
            "`\(step.declaration.name)` cannot be taken back, and here it could meet a file that has only just come",
            hint: "add a least age to `where`, as in `age: \"> 30d\"`, or a step `confirm` before it")
        return false
    }
}

extension Condition {
    /// Whether it can hold only for files of a minimum age.
    var asksForAge: Bool {
        switch self {
        case .test(let test): test.asksForAge
        case .all(let parts): parts.contains(where: \.asksForAge)
        case .any(let parts): !parts.isEmpty && parts.allSatisfy(\.asksForAge)
        case .not: false
        }
    }
}
