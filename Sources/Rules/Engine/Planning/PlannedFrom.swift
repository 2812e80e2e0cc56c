import Ledger
import Platform

/// Which step of its rule a job's step is, and what that said when the job was planned: ``StepRecord/arguments``.
struct PlannedFrom {
    /// Where a step stands in its list, and in `for-each` where that stands: `2`, `2.0`. Nil in ledgers of before.
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
    /// The step that stands there, also within `for-each`; nil where there is none.
    fileprivate func step(at position: String) -> StepTemplate? {
        let numbers = position.split(separator: ".").compactMap { Int($0) }
        guard let first = numbers.first, indices.contains(first) else { return nil }
        guard numbers.count > 1 else { return self[first] }
        guard let inner = self[first].repetition?.steps, inner.indices.contains(numbers[1]) else { return nil }
        return inner[numbers[1]]
    }

    /// The step that one was planned from by an earlier version, which did not note where it stood.
    fileprivate func step(number: Int, _ action: String, _ arguments: String) -> StepTemplate? {
        if !contains(where: { $0.repetition != nil }) { return indices.contains(number) ? self[number] : nil }
        let all = flatMap { [$0] + ($0.repetition?.steps ?? []) }
        return all.first { $0.declaration.name == action && $0.storedArguments == arguments }
    }
}

extension RuleSet {
    /// The rule that a job is of, as it is in force, and the list of its steps that the job carries out.
    ///
    /// - Throws: `Fault(.failed)` where no rule has this name any more.
    private func rule(of job: JobRecord) throws -> (rule: Rule, steps: [StepTemplate]) {
        if let rule = self[job.rule] { return (rule, rule.steps) }
        let name = FailureSteps.ruleName(job.rule)
        if let name, let rule = self[name] { return (rule, rule.onFailure) }
        throw Fault(
            .failed,
            "the rule \"\(job.rule)\" is in no rule file any more; put it back if this is still to be done")
    }

    /// A job's step as the rule in force has it: what is carried out is what the rule files say now.
    ///
    /// - Throws: `Fault(.failed)`, for a person to see, where the rule is gone, or has another step in its place.
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

    /// Sees that what a step uses is known, where its rule has been changed since: values are fixed when a job is planned.
    ///
    /// - Throws: `Fault(.failed)` naming a value that the changed rule asks for and nobody has read.
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
        // What was asked for then and not found is none of the change.
        let before = try Arguments(json: from.arguments, for: step.declaration, in: places).valueNames
        guard let unread = asked.subtracting(before).min() else { return }
        throw Fault(
            .failed,
            "the rule \"\(job.rule)\" has been changed, and its step `\(record.action)` uses `\(unread)` now, which was not "
                + "read when this job was planned: `steward reprocess` does with the file what the rule says now")
    }
}
