import Rules

/// Which steps of a job to show: of a thousand lines only the first few.
struct ShownSteps {
    /// Lines or pages shown per `for-each`.
    private static let most = 5

    private let steps: [PlannedStep]
    /// The first step of each line or page, and the steps that belong to none.
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

    /// A summary of the hidden steps, if this step is the last one before them.
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
    /// The step's text, with the line or page that it applies to.
    func named(_ text: String) -> String { itemName.map { "\($0): \(text)" } ?? text }
}
