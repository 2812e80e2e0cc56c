import Ledger
import Platform

/// The step of the rule that a job's step was planned from, and its arguments at that time: ``StepRecord/arguments``.
struct PlannedFrom {
    /// The step's index, or for a step in `for-each` both indexes: `2`, `2.0`. nil in old ledgers.
    let position: String?
    /// See ``Arguments/json()``.
    let arguments: String

    static func text(_ position: String, _ step: StepTemplate) -> String { "\(position) \(step.storedArguments)" }

    init(_ record: StepRecord) {
        let text = record.arguments
        guard text.first != "{", let space = text.firstIndex(of: " ") else {
            (position, arguments) = (nil, text)
            return
        }
        position = String(text[..<space])
        arguments = String(text[text.index(after: space)...])
    }
}

extension [StepTemplate] {
    /// The step at that position, also within `for-each`, or nil.
    fileprivate func step(at position: String) -> StepTemplate? {
        let numbers = position.split(separator: ".").compactMap { Int($0) }
        guard let first = numbers.first, indices.contains(first) else { return nil }
        guard numbers.count > 1 else { return self[first] }
        guard let inner = self[first].repetition?.steps, inner.indices.contains(numbers[1]) else { return nil }
        return inner[numbers[1]]
    }

    /// The step that an earlier version planned from without recording its position.
    fileprivate func step(number: Int, _ action: String, _ arguments: String) -> StepTemplate? {
        if !contains(where: { $0.repetition != nil }) { return indices.contains(number) ? self[number] : nil }
        let all = flatMap { [$0] + ($0.repetition?.steps ?? []) }
        return all.first { $0.declaration.name == action && $0.storedArguments == arguments }
    }
}

extension RuleSet {
    /// The present rule of a job, and the list of steps that the job carries out.
    ///
    /// - Throws: `Fault(.failed)` if there is no rule with this name any more.
    private func rule(of job: JobRecord) throws -> (rule: Rule, steps: [StepTemplate]) {
        if let rule = self[job.rule] { return (rule, rule.steps) }
        let name = FailureSteps.ruleName(job.rule)
        if let name, let rule = self[name] { return (rule, rule.onFailure) }
        throw Fault(
            .failed,
            "the rule \"\(job.rule)\" is in no rule file any more; put it back if this is still to be done")
    }

    /// A job's step as defined by the rule in force: jobs carry out what the rule files say now.
    ///
    /// - Throws: `Fault(.failed)`, for a person to see, if the rule is gone or has a different step at that position.
    func step(_ record: StepRecord, of job: JobRecord) throws -> StepTemplate {
        let steps = try rule(of: job).steps
        let from = PlannedFrom(record)
        let found =
            from.position.map { steps.step(at: $0) } ?? steps.step(number: record.number, record.action, from.arguments)
        guard let found, found.declaration.name == record.action else {
            throw Fault(
                .failed,
                "the rule \"\(job.rule)\" has been changed, and has no step `\(record.action)` any more where this job had one: "
                    + "`steward reprocess` does with the file what the rule says now")
        }
        return found
    }

    /// Checks that all values used by a step are known, since its rule may have changed after they were fixed at
    /// planning.
    ///
    /// - Throws: `Fault(.failed)` naming a value that the changed rule uses and that was not read.
    func requireKnown(
        _ step: StepTemplate, _ record: StepRecord, of job: JobRecord, _ values: Values, in places: PlaceMap
    ) throws {
        let from = PlannedFrom(record)
        guard step.storedArguments != from.arguments else { return }
        let (rule, steps) = try rule(of: job)
        let provided = Set(
            (steps + (rule.steps.flatMap { $0.repetition?.steps ?? [] })).flatMap(\.declaration.provides).map(\.name))
        let asked = step.valueNames.filter { values[$0] == nil && !provided.contains($0) }
        guard !asked.isEmpty else { return }
        // Values that were already missing at planning are not due to the change.
        let before = try Arguments(json: from.arguments, for: step.declaration, in: places).valueNames
        guard let unread = asked.subtracting(before).min() else { return }
        throw Fault(
            .failed,
            "the rule \"\(job.rule)\" has been changed, and its step `\(record.action)` uses `\(unread)` now, which was not "
                + "read when this job was planned: `steward reprocess` does with the file what the rule says now")
    }
}
