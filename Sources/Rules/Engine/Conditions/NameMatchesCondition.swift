import Platform

/// The condition on names by regular expression, for what globs and fields cannot express.
extension ConditionSpec {
    static let nameMatchesCondition = ConditionSpec(
        "name-matches",
        "The file's name, by a regular expression that finds itself somewhere in it; `^` and `$` are the name's ends. Case "
            + "counts, unless the expression begins with `(?i)`. A list: the first that matches. A group `(?<number>…)` gives "
            + "the value `match.number`.",
        example: #"name-matches: '^RG(?<number>\d{12})\.pdf$'"#, schema: oneOrMoreTexts, takes: .both
    ) { node, context in
        guard let texts = context.texts(node, "name-matches") else { return nil }
        var patterns: [TextPattern] = []
        for (item, text) in zip(context.reader.oneOrMore(node), texts) {
            guard let pattern = TextPattern(text, isMultiline: false) else {
                context.reader.report(item.position, "`\(printable(text))` is not a valid regular expression")
                continue
            }
            patterns.append(pattern)
        }
        guard patterns.count == texts.count else { return nil }
        return Loaded(provides: patterns.flatMap(\.provides)) { [patterns] facts, _ in
            let seen = BytePath.escape(facts.path.name)
            guard let name = String(validating: facts.path.name, as: UTF8.self) else {
                return Observation(false, seen: "\(seen), which is no UTF-8")
            }
            for pattern in patterns {
                switch pattern.firstMatch(in: name) {
                case .found(_, let values): return Observation(true, seen: seen, values: values)
                case .none: continue
                case .gaveUp:
                    return Observation(
                        false, seen: "\(seen); `\(printable(pattern.text))` was abandoned: it needs too many steps")
                }
            }
            return Observation(false, seen: seen)
        }
    }
}
