import Platform

/// The tests of `exif` and `media` on values found.
struct FindingsTest: Sendable {
    private enum Wanted: Sendable {
        case like(ConditionReader.Expectation)
        case number([Comparison<Double>])
    }

    private let wanted: [(key: String, wanted: Wanted)]

    /// nil after reporting an error.
    ///
    /// - Parameters:
    ///   - keys: all supported keys.
    ///   - numbers: those of them that are compared as numbers.
    init?(_ node: YamlNode, _ context: ConditionReader, _ name: String, keys: [String], numbers: [String]) {
        guard case .mapping = node.content else {
            guard let names = context.expectations(node, name) else { return nil }
            guard Self.areKnown(names.map(\.key), keys, node, context) else { return nil }
            self.wanted = names.map { ($0.key, .like($0.wanted)) }
            return
        }
        guard let mapping = context.reader.mapping(node, "`\(name)`", keys: keys) else { return nil }
        var wanted: [(key: String, wanted: Wanted)] = []
        for entry in mapping.entries {
            if numbers.contains(entry.key), !["present", "absent"].contains(entry.value.scalar) {
                let isTime = entry.key == "duration"
                guard
                    let comparisons = context.comparisons(
                        entry.value, entry.key, such: isTime ? "> 3m" : "> 1920",
                        bound: { isTime ? Quantity.seconds($0) : Double($0) })
                else { return nil }
                wanted.append((entry.key, .number(comparisons)))
            } else {
                let alone = YamlNode(.mapping([entry]), at: node.position)
                guard let read = context.expectations(alone, name)?.first else { return nil }
                wanted.append((entry.key, .like(read.wanted)))
            }
        }
        if wanted.isEmpty {
            context.reader.report(node.position, "`\(name)` names nothing to look for")
            return nil
        }
        self.wanted = wanted
    }

    private static func areKnown(
        _ names: [String], _ keys: [String], _ node: YamlNode, _ context: ConditionReader
    ) -> Bool {
        names.allSatisfy { name in
            if keys.contains(name) { return true }
            context.reader.report(
                node.position, "there is no `\(printable(name))` to look for",
                hint: Suggest.hint(for: name, among: keys))
            return false
        }
    }

    /// - Parameters:
    ///   - prefix: of the values' names.
    ///   - others: the value names of keys that differ from them.
    func look(at found: ContentFindings, prefix: String, others: [String: String]) -> Observation {
        if let trouble = found.trouble { return Observation(false, seen: trouble) }
        var held = true
        var seen: [String] = []
        for (key, wanted) in wanted {
            let text = found.written[prefix + (others[key] ?? key)]
            switch wanted {
            case .like(let expectation):
                held = held && expectation.holds(text.map { [$0] })
            case .number(let comparisons):
                let number = text.flatMap { Double($0) }
                held = held && number.map { number in comparisons.allSatisfy { $0.holds(number) } } ?? false
            }
            seen.append("\(key): \(text.map(printable) ?? "absent")\(key == "duration" && text != nil ? " s" : "")")
        }
        return Observation(held, seen: seen.joined(separator: "; "))
    }
}
