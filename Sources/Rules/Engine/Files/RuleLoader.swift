import Foundation
import Platform

/// Loads the rules of one file and reports all errors.
struct RuleLoader {
    let reader: YamlReader
    let registry: ActionRegistry
    let places: [PlaceInfo]
    let timeZone: Zone
    /// Default settle time in seconds.
    var standardSettle = 1.0
    /// Where tables are read from; nil if they are not read.
    var tableFolder: TableFolder?
    /// Whether the file is the machine's and someone else maintains it. Its rules may refer to places, vaults or
    /// targets that only the machine's own agent has; this agent skips those rules.
    var isOthers = false

    /// The valid rules, in order.
    func rules() -> [Rule] {
        guard let root = reader.root, !root.isNull else { return [] }
        switch root.content {
        case .sequence(let items): return items.flatMap(rules)
        case .mapping: return rules(root)
        case .scalar:
            reader.report(
                root.position, "a rule file is a list of rules, not text", hint: "begin each with `- rule: NAME`")
            return []
        }
    }

    /// A rule, and the second one for its `otherwise`.
    private func rules(_ node: YamlNode) -> [Rule] {
        guard isOthers else { return ownRules(node) }
        var name: String?
        if case .mapping(let entries) = node.content { name = entries.first { $0.key == "rule" }?.value.scalar }
        let title = name.map { "the rule `\(printable($0))`" } ?? "the rule"
        let rules = reader.unlessLacking {
            Diagnostic(
                file: $0.file, at: $0.position, "this agent ignores \(title): \($0.message)", hint: $0.hint,
                excerpt: $0.excerpt, severity: .warning)
        } _: {
            ownRules(node)
        }
        return rules ?? []
    }

    private func ownRules(_ node: YamlNode) -> [Rule] {
        guard let mapping = reader.mapping(node, "a rule", keys: RuleKey.names) else { return [] }
        let name = mapping["rule"].flatMap { reader.text($0, "`rule`") }?.trimmedSpaces
        let title = name.map { "`\(printable($0))`" } ?? "the rule"
        for key in RuleKey.all where key.required && mapping[key.name] == nil {
            reader.report(mapping.position, "\(title) needs `\(key.name)`", hint: "as in `\(key.example)`")
        }
        let places = mapping["in"].flatMap(self.places)
        let match = word(mapping["match"], "match", RuleSubject.self)
        let subject = (match ?? nil) ?? .files
        let schedules = self.schedules(mapping)
        // A rule with a schedule has no other events by default.
        let standardEvents: Set<FileEvent> = schedules?.isEmpty ?? true ? [.arrived] : []
        let events = mapping["on"].map(self.events) ?? standardEvents
        let condition = mapping["where"].map {
            ConditionReader(reader: reader, places: self.places, timeZone: timeZone, subject: subject)
                .condition($0, "`where`")
        }
        let settle = mapping["settle"].map { reader.duration($0, "`settle`") }
        let existing = word(mapping["existing"], "existing", Rule.Existing.self)
        let refused = word(mapping["refused"], "refused", Rule.Refused.self)
        let then = word(mapping["then"], "then", Rule.Then.self)
        let repeatSafe = mapping["repeat"].map { reader.choice($0, "`repeat`", among: ["safe"]) }
        let tables = mapping["values"].map(self.tables)
        // The contents of an invalid table are unknown.
        let knownTables = tableFolder == nil ? nil : tables ?? [:]
        let usesBlocks = condition.map { $0?.usesBlocks ?? true } ?? false
        let asksForAge = condition.map { $0?.asksForAge ?? true } ?? false
        func list(_ key: String, usesBlocks: Bool, found: [ValueSpec], asksForAge: Bool) -> [StepTemplate]?? {
            mapping[key].map {
                StepLoader(
                    reader: reader, registry: registry, places: self.places, timeZone: timeZone, subject: subject,
                    key: key,
                    usesBlocks: usesBlocks, found: found, repeatSafe: repeatSafe != nil, asksForAge: asksForAge,
                    tables: knownTables
                ).steps($0)
            }
        }
        let found = condition.flatMap { $0?.provides } ?? []
        let steps = list("do", usesBlocks: usesBlocks, found: found, asksForAge: asksForAge) ?? nil
        let otherwise = list("otherwise", usesBlocks: false, found: [], asksForAge: false)
        let failureFound = FailureSteps.values + (otherwise == nil ? found : [])
        let onFailure = list(
            "on-failure", usesBlocks: usesBlocks, found: failureFound, asksForAge: asksForAge && otherwise == nil)
        let mayBeAboutFolders = subject == .files || checkFolders(mapping)
        let mayBeOtherwise = checkOtherwise(mapping, title, usesBlocks: usesBlocks)
        let examples = mapping["examples"].map { RuleExampleReader(reader: reader, timeZone: timeZone).examples($0) }
        // `.some(nil)`: present but rejected.
        let refusals = [
            condition.map { $0 == nil }, settle.map { $0 == nil }, existing.map { $0 == nil },
            refused.map { $0 == nil },
            then.map { $0 == nil }, repeatSafe.map { $0 == nil }, otherwise.map { $0 == nil },
            onFailure.map { $0 == nil }, match.map { $0 == nil }, !mayBeAboutFolders, !mayBeOtherwise,
            examples.map { $0 == nil }, tables.map { $0 == nil },
        ]
        guard let name, let places, let events, let schedules, let steps, !refusals.contains(true) else { return [] }
        let text = Self.canonical(node)
        let wanted = (condition ?? nil) ?? .always
        func rule(
            _ name: String, _ text: String, _ condition: Condition, _ steps: [StepTemplate], _ then: Rule.Then?,
            examples: [RuleExample] = []
        ) -> Rule {
            var rule = Rule(
                name: name, digest: ContentHash(of: Array(text.utf8)), places: places,
                events: schedules.isEmpty ? events : events.union([.scheduled]),
                condition: Self.reaching(condition, of: wanted, subject), settle: (settle ?? nil) ?? standardSettle,
                existing: existing ?? nil,
                steps: steps, onFailure: (onFailure ?? nil) ?? [], refused: refused ?? nil, then: then ?? .continue,
                examples: examples, file: reader.source.file, position: mapping.position, schedules: schedules,
                tables: (tables ?? nil) ?? [:])
            rule.subject = subject
            return rule
        }
        let main = rule(name, text, wanted, steps, then ?? nil, examples: (examples ?? nil) ?? [])
        guard let otherwise = otherwise ?? nil else { return [main] }
        // `then` applies only to matching files, so later rules may match this one's too.
        return [main, rule("\(name), otherwise", "otherwise \(text)", .not(wanted), otherwise, nil)]
    }

    /// The rule without its examples, which do not affect its identity.
    private static func canonical(_ node: YamlNode) -> String {
        guard case .mapping(let entries) = node.content else { return node.canonical }
        return YamlNode(.mapping(entries.filter { $0.key != "examples" }), at: node.position).canonical
    }

    /// Whether `otherwise`, if present, is allowed.
    private func checkOtherwise(_ mapping: YamlMapping, _ title: String, usesBlocks: Bool) -> Bool {
        guard let node = mapping["otherwise"] else { return true }
        if mapping["where"] == nil {
            reader.report(
                node.position, "`otherwise` of \(title) would never run: without `where` every file is meant",
                hint: "say in `where` which files `do` is for")
            return false
        }
        if usesBlocks {
            reader.report(
                node.position, "`otherwise` of \(title) is about files, and `anchor` asks for blocks of a note",
                hint: "write a second rule for the other notes")
            return false
        }
        return true
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
                reader.reportLack(item.position, "unknown place `\(printable(name))`", hint: hint)
            }
        }
        return found.isEmpty ? nil : found
    }

    private func events(_ node: YamlNode) -> Set<FileEvent>? {
        let items = reader.oneOrMore(node)
        if items.isEmpty { reader.report(node.position, "`on` is an empty list, so the rule would never run") }
        let events = items.compactMap { item -> FileEvent? in
            if let hint = Self.timeHints[item.scalar ?? ""] {
                reader.report(item.position, "`\(item.scalar ?? "")` is not an event of a file", hint: hint)
                return nil
            }
            return reader.choice(item, "`on`", among: FileEvent.happenings.map(\.rawValue)).flatMap(FileEvent.init)
        }
        return events.count == items.count && !events.isEmpty ? Set(events) : nil
    }

    /// Hints for words that are not events.
    private static let timeHints = [
        "aged":
            "a file arrives for a rule when it first meets the conditions, also by time alone: leave `on` out, and write "
            + "`age: \"> 30d\"` into `where`",
        "scheduled": "leave `on` out, and write `at: every day 03:00` or `every: 7d`",
    ]

    /// The schedules from `at` and `every`; nil if one of them is rejected.
    private func schedules(_ mapping: YamlMapping) -> [Schedule]? {
        var schedules: [Schedule] = []
        var isGood = true
        if let node = mapping["at"] {
            let texts = reader.texts(node, "`at`")
            if texts == nil { isGood = false }
            for (item, text) in zip(reader.oneOrMore(node), texts ?? []) {
                if let schedule = Schedule(at: text, timeZone: timeZone) {
                    schedules.append(schedule)
                } else {
                    reader.report(
                        item.position,
                        "`at` must be such as `every day 03:00`, `every monday 03:00` or `every month 1 03:00`, not "
                            + reader.shown(item))
                    isGood = false
                }
            }
        }
        if let node = mapping["every"] {
            if let seconds = reader.duration(node, "`every`"), seconds >= Schedule.shortest {
                schedules.append(Schedule(every: seconds, text: node.scalar?.trimmedSpaces ?? ""))
            } else {
                isGood = false
                if node.scalar.flatMap(Quantity.seconds) != nil {
                    reader.report(
                        node.position, "`every` must be a minute at least, not \(reader.shown(node))",
                        hint: "without `every` the rule runs as soon as a file arrives")
                }
            }
        }
        return isGood ? schedules : nil
    }
}
