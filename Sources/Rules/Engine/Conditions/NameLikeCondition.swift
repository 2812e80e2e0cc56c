import Platform

/// The condition on the structure of a name.
extension ConditionSpec {
    static let nameLikeCondition = ConditionSpec(
        "name-like",
        "What the name is made of: `{vendor}` stands for any text, `{number:0000}` for four digits, `{number:#}` for digits, "
            + "`{date:yyyy-MM-dd}` for a date (`yyyy`, `yy`, `MM`, `dd`, `HH`, `mm`, `ss`), anything else for itself; `{{` and "
            + "`}}` for braces. Each field gives a value `match.vendor`, dates as dates. Case counts. A list: the first that "
            + "matches.",
        example: "name-like: \"{vendor}_{date:yyyy-MM-dd}_{number:0000}.pdf\"", schema: oneOrMoreTexts, takes: .both
    ) { node, context in
        guard let texts = context.texts(node, "name-like") else { return nil }
        let timeZone = context.timeZone
        var patterns: [NamePattern] = []
        for (item, text) in zip(context.reader.oneOrMore(node), texts) {
            do throws(NamePattern.Fault) {
                patterns.append(try NamePattern(text, timeZone: timeZone))
            } catch {
                let position = context.reader.position(inside: item, offset: error.offset)
                context.reader.report(position, "the pattern `\(printable(text))` cannot be read: \(error.message)")
            }
        }
        guard patterns.count == texts.count else { return nil }
        let suffixes = patterns.compactMap(\.literalSuffix)
        return Loaded(
            extensions: suffixes.count == patterns.count ? RuleIndex.keys(ofSuffixes: suffixes) : nil,
            provides: patterns.flatMap(\.provides)
        ) { [patterns] facts, _ in
            let seen = BytePath.escape(facts.path.name)
            guard let name = String(validating: facts.path.name, as: UTF8.self) else {
                return Observation(false, seen: "\(seen), which is no UTF-8")
            }
            for pattern in patterns {
                guard let values = pattern.match(name) else { continue }
                let fields = values.sorted { $0.key < $1.key }.map { key, value in
                    "\(key): \(printable(value.shown(timeZone)))"
                }
                return Observation(true, seen: ([seen] + fields).joined(separator: "; "), values: values)
            }
            return Observation(false, seen: seen)
        }
    }
}
