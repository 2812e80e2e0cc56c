import Foundation
import Platform

/// Reads the rules of one file, reporting everything that is wrong with them.
struct RuleLoader {
    let reader: YamlReader
    let registry: ActionRegistry
    let places: [PlaceInfo]
    let timeZone: TimeZone
    /// Seconds, for rules that do not say.
    var standardSettle = 1.0

    /// The rules that are valid, in their order.
    func rules() -> [Rule] {
        guard let root = reader.root, !root.isNull else { return [] }
        switch root.content {
        case .sequence(let items): return items.compactMap(rule)
        case .mapping: return rule(root).map { [$0] } ?? []
        case .scalar:
            reader.report(
                root.position, "a rule file is a list of rules, not text", hint: "begin each with `- rule: NAME`")
            return []
        }
    }

    private func rule(_ node: YamlNode) -> Rule? {
        guard let mapping = reader.mapping(node, "a rule", keys: RuleKey.names) else { return nil }
        let name = mapping["rule"].flatMap { reader.text($0, "`rule`") }?.trimmedSpaces
        let title = name.map { "`\(printable($0))`" } ?? "the rule"
        for key in RuleKey.all where key.required && mapping[key.name] == nil {
            reader.report(mapping.position, "\(title) needs `\(key.name)`", hint: "as in `\(key.example)`")
        }
        let places = mapping["in"].flatMap(self.places)
        let events = mapping["on"].map(self.events) ?? [.arrived]
        let condition = mapping["where"].map {
            ConditionReader(reader: reader, places: self.places).condition($0, "`where`")
        }
        let settle = mapping["settle"].map { reader.duration($0, "`settle`") }
        let existing = word(mapping["existing"], "existing", Rule.Existing.self)
        let refused = word(mapping["refused"], "refused", Rule.Refused.self)
        let then = word(mapping["then"], "then", Rule.Then.self)
        let repeatSafe = mapping["repeat"].map { reader.choice($0, "`repeat`", among: ["safe"]) }
        let steps = mapping["do"].flatMap {
            StepLoader(
                reader: reader, registry: registry, places: self.places, timeZone: timeZone,
                usesBlocks: condition.map { $0?.usesBlocks ?? true } ?? false, repeatSafe: repeatSafe != nil
            ).steps($0)
        }
        // `.some(nil)`: given, but refused.
        let refusals = [
            condition.map { $0 == nil }, settle.map { $0 == nil }, existing.map { $0 == nil },
            refused.map { $0 == nil },
            then.map { $0 == nil }, repeatSafe.map { $0 == nil },
        ]
        guard let name, let places, let events, let steps, !refusals.contains(true) else { return nil }
        return Rule(
            name: name, digest: ContentHash(of: Array(node.canonical.utf8)), places: places, events: events,
            condition: (condition ?? nil) ?? .always, settle: (settle ?? nil) ?? standardSettle,
            existing: existing ?? nil,
            steps: steps,
            refused: refused ?? nil, then: (then ?? nil) ?? .continue, file: reader.source.file,
            position: mapping.position)
    }

    private func word<W: RawRepresentable<String> & CaseIterable>(_ node: YamlNode?, _ key: String, _ type: W.Type)
        -> W??
    {
        node.map { reader.choice($0, "`\(key)`", among: W.allCases.map(\.rawValue)).flatMap(W.init) }
    }

    private func places(_ node: YamlNode) -> [PlaceInfo]? {
        guard let names = reader.texts(node, "`in`") else { return nil }
        var found: [PlaceInfo] = []
        for (item, name) in zip(reader.oneOrMore(node), names) {
            if let place = places.first(where: { $0.name == name }) {
                if !found.contains(place) { found.append(place) }
            } else {
                let hint =
                    Suggest.hint(for: name, among: places.map(\.name)) ?? "add it to `places` in the configuration"
                reader.report(item.position, "unknown place `\(printable(name))`", hint: hint)
            }
        }
        return found.isEmpty ? nil : found
    }

    private func events(_ node: YamlNode) -> Set<FileEvent>? {
        let items = reader.oneOrMore(node)
        if items.isEmpty { reader.report(node.position, "`on` is an empty list, so the rule would never run") }
        let events = items.compactMap {
            reader.choice($0, "`on`", among: FileEvent.allCases.map(\.rawValue)).flatMap(FileEvent.init)
        }
        return events.count == items.count && !events.isEmpty ? Set(events) : nil
    }
}
