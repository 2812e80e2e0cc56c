import Foundation
import Platform

/// The required age of a file, and the time it counts from.
struct AgeTest: Sendable {
    let start: AgeStart
    let key: String
    /// All must hold.
    let wanted: [Comparison<Span>]
    let timeZone: Zone

    /// Whether it requires a minimum age above zero.
    var asksForAge: Bool {
        wanted.contains { comparison in
            switch comparison.operation {
            case .above, .atLeast, .equal: comparison.bound > .none
            case .below, .atMost: false
            }
        }
    }

    /// Whether a wrong clock could make it hold for a file that is much too young or too old. False if it requires at
    /// most an hour since the file arrived or was modified: the error is then at most that hour.
    var reliesOnClock: Bool {
        guard [AgeStart.modified.name, "arrived"].contains(start.name) else { return true }
        return !wanted.allSatisfy { comparison in
            switch comparison.operation {
            case .above, .atLeast: comparison.bound <= .hour
            case .below, .atMost, .equal: false
            }
        }
    }

    func check(_ facts: FileFacts) throws -> Observation {
        guard facts.status != nil else { return Observation(false, seen: "the file is gone") }
        guard let begin = try start.find(facts, key, timeZone) else {
            return Observation(false, seen: "it has no date of this kind")
        }
        // Compared without subtracting first, since times may be at the limits of the nanosecond range.
        let age = facts.ageTime.seconds - begin.seconds
        let held = wanted.allSatisfy { comparison in
            let bound = comparison.bound.after(begin, in: timeZone)
            return switch comparison.operation {
            case .above: facts.ageTime > bound
            case .atLeast: facts.ageTime >= bound
            case .below: facts.ageTime < bound
            case .atMost: facts.ageTime <= bound
            case .equal: facts.ageTime == bound
            }
        }
        return Observation(held, seen: "\(Int(age.rounded(.down)))s")
    }

    /// When the first of the comparisons changes its result.
    func nextChange(_ facts: FileFacts) throws -> Timestamp? {
        guard facts.status != nil, let begin = try start.find(facts, key, timeZone) else { return nil }
        return wanted.flatMap { comparison -> [Timestamp] in
            let bound = comparison.bound.after(begin, in: timeZone)
            return switch comparison.operation {
            case .above, .atMost: [bound.next]
            case .atLeast, .below: [bound]
            case .equal: [bound, bound.next]
            }
        }.filter { $0 > facts.ageTime }.min()
    }
}

extension ConditionSpec {
    private static let ageSummary: String = {
        let starts = AgeStart.all.map { "`\($0.takesKey ? "\($0.name):KEY" : $0.name)` (\($0.summary))" }
        return
            "Time since the content last changed: `> 7d`, `> 1 month`. A list is a range. Units: ms, s, m, h, d, w, and "
            + "`month` and `year` by the calendar. `{ since: …, is: … }` counts from another time: "
            + starts.joined(separator: ", ")
            + ". A file or folder arrives for the rule when it comes to be that old, though nothing has happened to it. A folder "
            + "is as old as the file in it that was changed last; with `since: arrived`, as long ago as it first stood still in its "
            + "place, whatever has come into it since."
    }()

    private static let sincePattern: String = {
        let names = AgeStart.all.map { $0.takesKey ? "\($0.name):.+" : $0.name }
        return "^(\(names.joined(separator: "|")))$"
    }()

    static let timeConditions: [ConditionSpec] = [
        ConditionSpec(
            "age",
            ageSummary,
            example: "age: { since: arrived, is: \"> 30d\" }",
            schema: [
                "oneOf": [
                    ["type": ["string", "integer"]],
                    ["type": "array", "minItems": 1, "items": ["type": ["string", "integer"]]],
                    [
                        "type": "object", "additionalProperties": false, "required": ["is"],
                        "properties": [
                            "since": ["type": "string", "pattern": .string(sincePattern)],
                            "is": comparisons,
                        ],
                    ],
                ]
            ], takes: .both
        ) { node, context in
            guard let test = context.age(node) else { return nil }
            return Loaded(
                asksForAge: test.asksForAge, countsAge: test.reliesOnClock, nextChange: { try test.nextChange($0) }
            ) {
                facts, _ in
                try test.check(facts)
            }
        }
    ]
}

extension ConditionReader {
    fileprivate func age(_ node: YamlNode) -> AgeTest? {
        var (start, key) = (AgeStart.modified, "")
        var bounds = node
        if case .mapping = node.content {
            guard let mapping = reader.mapping(node, "`age`", keys: ["since", "is"]) else { return nil }
            guard let given = mapping["is"] else {
                reader.report(
                    node.position, "`age` needs `is`", hint: "as in `age: { since: arrived, is: \"> 30d\" }`")
                return nil
            }
            bounds = given
            if let since = mapping["since"] {
                guard let text = reader.text(since, "`since`") else { return nil }
                guard let found = AgeStart.named(text) else {
                    let list = AgeStart.names.map { "`\($0)`" }.joined(separator: ", ")
                    let hint = Suggest.closest(to: text, among: AgeStart.names).map { "did you mean `\($0)`?" }
                    reader.report(
                        since.position, "`since` must be one of \(list), not `\(printable(text))`", hint: hint)
                    return nil
                }
                (start, key) = found
            }
        }
        guard let wanted = comparisons(bounds, "age", such: "> 7d", bound: Span.init) else { return nil }
        return AgeTest(start: start, key: key, wanted: wanted, timeZone: timeZone)
    }
}
