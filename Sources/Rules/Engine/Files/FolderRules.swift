import Platform

/// Checks of rules with `match: folders` (docs/design/folders.md).
extension RuleLoader {
    private static let events: Set<String> = [FileEvent.arrived.rawValue, FileEvent.changed.rawValue]

    /// Whether all keys are allowed for folders; reports those that are not.
    func checkFolders(_ mapping: YamlMapping) -> Bool {
        var isGood = true
        func refuse(_ position: SourcePosition, _ message: String, _ hint: String) {
            reader.report(position, message, hint: hint)
            isGood = false
        }
        for item in mapping["on"].map(reader.oneOrMore) ?? [] {
            guard let word = item.scalar, FileEvent(rawValue: word) != nil, !Self.events.contains(word) else {
                continue
            }
            refuse(
                item.position, "a rule about folders is not started by a folder that was \(word)",
                "say `arrived` or `changed`")
        }
        for key in ["at", "every"] {
            guard let node = mapping[key] else { continue }
            refuse(node.position, "a rule about folders has no schedule", "ask for an `age` in `where`")
        }
        if let node = mapping["refused"], node.scalar == Rule.Refused.quarantine.rawValue {
            refuse(node.position, "a folder does not go into quarantine", "leave `refused` out: the folder stays")
        }
        return isGood
    }

    /// The effective condition of a rule. A rule with `match: folders` that does not mention depth or path is about
    /// folders directly in the place, since hardly anyone means nested folders too.
    ///
    /// - Parameter wanted: the condition in `where`; `condition` is the same, or its negation for `otherwise`.
    static func reaching(_ condition: Condition, of wanted: Condition, _ subject: RuleSubject) -> Condition {
        guard subject == .folders, !wanted.asks(["depth", "path"]) else { return condition }
        let direct = ConditionTest(
            text: "depth: 0", usesBlocks: false, extensions: nil, provides: [], attributes: [], asksForAge: false
        ) { facts, _ in Observation(facts.depth == 0, seen: String(facts.depth)) }
        if case .all(let parts) = condition { return .all([.test(direct)] + parts) }
        return .all([.test(direct), condition])
    }
}
