import Rules

/// Which of a job's steps are shown where it is told what would be done: of a thousand lines the first few.
struct ShownSteps {
    /// Lines or pages of one `for-each`.
    private static let most = 5

    private let steps: [PlannedStep]
    /// The first step of each line or page, and the steps that are about none.
    private let hidden: Set<Int>

    init(_ steps: [PlannedStep]) {
        self.steps = steps
        var hidden: Set<Int> = []
        var seen = 0
        var last: String?
        for (number, step) in steps.enumerated() {
            if step.itemName == nil {
                seen = 0
            } else if step.itemName != last {
                seen += 1
            }
            last = step.itemName
            if seen > Self.most { hidden.insert(number) }
        }
        self.hidden = hidden
    }

    func isShown(_ number: Int) -> Bool { !hidden.contains(number) }

    /// A line for what is not shown, where a step is the last before it.
    func leftOut(after number: Int) -> String? {
        guard isShown(number), hidden.contains(number + 1) else { return nil }
        let rest = steps[(number + 1)...].enumerated().prefix { hidden.contains(number + 1 + $0.offset) }.map(\.element)
        guard let first = rest.first?.itemName, let last = rest.last?.itemName, first != last else {
            return "the same with \(rest.first?.itemName ?? "the rest")"
        }
        return "the same with \(first) to \(last)"
    }
}

extension PlannedStep {
    /// What is told of the step, with the line or page that it is about.
    func named(_ text: String) -> String { itemName.map { "\($0): \(text)" } ?? text }
}
