import Platform

/// Conditions on local time. Each is a ``ClockWindow``, which also knows when its result next changes.
extension ConditionSpec {
    static let clockConditions: [ConditionSpec] = [
        ConditionSpec(
            "weekday",
            "The day of the week, in the agent's time zone, on which the file is judged: `monday` or `mon`. A list: one must "
                + "match. `{ of: modified, is: … }` asks for the day on which the content last changed.",
            example: "weekday: [saturday, sunday]", schema: clockSchema, takes: .both
        ) { node, context in
            guard let (moment, value) = subject(node, "weekday", context),
                let texts = context.texts(value, "weekday")
            else { return nil }
            var days: Set<Int> = []
            for (item, text) in zip(context.reader.oneOrMore(value), texts) {
                if let day = ClockWords.weekday(text) {
                    days.insert(day)
                } else {
                    let hint = Suggest.hint(for: text, among: ClockWords.weekdays)
                    context.reader.report(item.position, "`\(printable(text))` is no day of the week", hint: hint)
                }
            }
            return days.isEmpty ? nil : loaded(ClockWindow(weekdays: days, in: context.timeZone), moment)
        },
        ConditionSpec(
            "time",
            "The time of day, in the agent's time zone, at which the file is judged: `22:00-06:00` (from, and until before), a "
                + "list of such, or comparisons that make a range: `[\"> 22:00\", \"< 06:00\"]`. A range that ends before it "
                + "begins goes over midnight. `{ of: modified, is: … }` asks for the time at which the content last changed.",
            example: "time: \"22:00-06:00\"", schema: clockSchema, takes: .both
        ) { node, context in
            guard let (moment, value) = subject(node, "time", context), let spans = spans(value, context) else {
                return nil
            }
            return loaded(ClockWindow(hours: spans, in: context.timeZone), moment)
        },
    ]

    private enum Moment: String, CaseIterable { case now, modified }

    private static let clockSchema: JSON = {
        let words = oneOrMoreTexts
        return [
            "oneOf": [
                words,
                [
                    "type": "object", "additionalProperties": false, "required": ["is"],
                    "properties": ["of": ["enum": ["now", "modified"]], "is": words],
                ],
            ]
        ]
    }()

    private static func loaded(_ window: ClockWindow, _ moment: Moment) -> Loaded {
        let nextChange: ConditionTest.NextChange = { window.nextChange(after: $0.now) }
        return Loaded(nextChange: moment == .now ? nextChange : nil) { facts, _ in
            let time: Timestamp
            switch moment {
            case .now: time = facts.now
            case .modified:
                guard let modified = facts.status?.fingerprint.modified else {
                    return Observation(false, seen: "the file is gone")
                }
                time = Timestamp(nanoseconds: modified)
            }
            return Observation(window.holds(time), seen: window.shown(time))
        }
    }

    /// The time that the condition is about, and the test on it.
    private static func subject(
        _ node: YamlNode, _ name: String, _ context: ConditionReader
    ) -> (Moment, YamlNode)? {
        guard case .mapping = node.content else { return (.now, node) }
        guard let mapping = context.reader.mapping(node, "`\(name)`", keys: ["of", "is"]) else { return nil }
        guard let value = mapping["is"] else {
            context.reader.report(node.position, "`\(name)` needs `is`", hint: "as in `{ of: modified, is: … }`")
            return nil
        }
        guard let of = mapping["of"] else { return (.now, value) }
        return context.reader.choice(of, "`of`", among: Moment.allCases.map(\.rawValue))
            .flatMap(Moment.init).map { ($0, value) }
    }

    private static func spans(_ node: YamlNode, _ context: ConditionReader) -> [ClockWindow.Span]? {
        guard let texts = context.texts(node, "time") else { return nil }
        let spans = texts.map(ClockWords.span)
        if !spans.contains(where: { $0 == nil }) { return spans.compactMap(\.self) }
        if let range = range(texts) { return [range] }
        for (item, span) in zip(context.reader.oneOrMore(node), spans) where span == nil {
            context.reader.report(
                item.position,
                "`time` must be like `22:00-06:00`, or a comparison such as `> 22:00`, not "
                    + context.reader.shown(item),
                hint: "two comparisons make a range: one that says from when, one that says until when")
            return nil
        }
        return nil
    }

    /// At most one lower and one upper bound.
    private static func range(_ texts: [String]) -> ClockWindow.Span? {
        var start: Int?
        var end: Int?
        for text in texts {
            guard let comparison = Comparison(text, bound: ClockWords.second) else { return nil }
            switch comparison.operation {
            case .above where start == nil: start = comparison.bound + 1
            case .atLeast where start == nil: start = comparison.bound
            case .below where end == nil: end = comparison.bound
            case .atMost where end == nil: end = comparison.bound + 1
            default: return nil
            }
        }
        let span = ClockWindow.Span(start: (start ?? 0) % 86_400, end: (end ?? 0) % 86_400)
        return span.start == span.end ? nil : span
    }
}
