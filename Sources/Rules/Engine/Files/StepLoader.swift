import Foundation
import Platform

/// Loads `do` or another list of steps, and checks the arguments against the actions' declarations.
struct StepLoader {
    let reader: YamlReader
    let registry: ActionRegistry
    let places: [PlaceInfo]
    let timeZone: Zone
    /// What the rule is about.
    var subject = RuleSubject.files
    /// The key of the list in the rule.
    var key = "do"
    /// Whether templates may use `block.*`.
    let usesBlocks: Bool
    /// Values that the rule's conditions may find.
    let found: [ValueSpec]
    let repeatSafe: Bool
    /// Whether the rule's conditions hold only for files of a minimum age.
    var asksForAge = false
    /// nil if they are not read.
    let tables: [String: LookupTable]?
    /// For steps in `for-each`: the items it iterates over.
    var items: RepeatedItems?
    /// For steps in `for-each`: values provided by earlier steps.
    var providedBefore: Set<String> = []

    /// Allowed in addition to the parameters of any action.
    private static let repeatKey = "repeat"

    func steps(_ node: YamlNode) -> [StepTemplate]? {
        let items = reader.oneOrMore(node)
        if items.isEmpty {
            reader.report(
                node.position, "`\(key)` is an empty list", hint: Suggest.hint(for: "", among: registry.names))
            return nil
        }
        var known = plannedNames.union(providedBefore)
        var steps: [StepTemplate] = []
        for (index, item) in items.enumerated() {
            guard let (entry, definition) = named(item) else {
                known.formUnion(meantValues(item))
                continue
            }
            if mayStandHere(definition.declaration, at: entry.keyPosition),
                let step = step(index, entry, definition, known: known), isAllowed(step, after: steps)
            {
                steps.append(step)
            }
            known.formUnion(definition.declaration.provides.map(\.name))
        }
        return steps.count == items.count ? steps : nil
    }

    /// The values available before the first step.
    private var plannedNames: Set<String> {
        let ofSubject = subject == .folders ? BuiltInValues.folder : BuiltInValues.file + BuiltInValues.inside
        return Set(
            (ofSubject + BuiltInValues.job + (usesBlocks ? BuiltInValues.block : []) + found + (items?.values ?? []))
                .map(\.name))
    }

    /// The values that an invalid step probably provides, so that later steps are not reported for missing them:
    /// those of the action that was probably meant, or any (`*`).
    private func meantValues(_ node: YamlNode) -> [String] {
        var name = node.scalar
        if case .mapping(let entries) = node.content { name = entries.first?.key }
        guard let name, let near = Suggest.closest(to: name, among: registry.names), let meant = registry[near] else {
            return ["*"]
        }
        return meant.declaration.provides.map(\.name)
    }

    /// The entry of an action: `trash`, `trash:` or `trash: { … }`.
    private func named(_ node: YamlNode) -> (YamlEntry, ActionDefinition)? {
        let entry: YamlEntry
        switch node.content {
        case .scalar(let text, _):
            entry = YamlEntry(
                key: text, keyPosition: node.position, value: YamlNode(.scalar("", plain: true), at: node.position))
        case .mapping(let entries) where entries.count == 1:
            entry = entries[0]
        case .mapping(let entries):
            let hint = "begin each step with its own `-`, and indent its parameters below the action's name"
            reader.report(
                entries.dropFirst().first?.keyPosition ?? node.position,
                "a step names one action, not \(entries.count)", hint: hint)
            return nil
        case .sequence:
            reader.report(node.position, "a step is an action with its parameters, not a list")
            return nil
        }
        guard let definition = registry[entry.key] else {
            let hint = Suggest.hint(for: entry.key, among: registry.names)
            reader.report(entry.keyPosition, "unknown action `\(printable(entry.key))`", hint: hint)
            return nil
        }
        return (entry, definition)
    }

    private func step(_ index: Int, _ entry: YamlEntry, _ definition: ActionDefinition, known: Set<String>)
        -> StepTemplate?
    {
        let declaration = definition.declaration
        guard declaration.takes.contains(subject) else {
            let names = registry.definitions.map(\.declaration).filter { $0.takes.contains(subject) }
            let hint = "a rule with `match: \(subject.rawValue)` may use "
            reader.report(
                entry.keyPosition, "`\(declaration.name)` cannot be done with \(subject.one)",
                hint: hint + names.map { "`\($0.name)`" }.joined(separator: ", "))
            return nil
        }
        let known = known.union(declaration.provides.filter(\.isForOwnStep).map(\.name))
        let what = "`\(declaration.name)`"
        var given: YamlMapping? = YamlMapping(entries: [], position: entry.keyPosition)
        if !entry.value.isNull {
            given = reader.mapping(entry.value, what, keys: declaration.parameters.map(\.name) + [Self.repeatKey])
        }
        guard let given else { return nil }
        var isGood = true
        if case .mapping(let all) = entry.value.content, all.count != given.entries.count { isGood = false }
        var isSafe = repeatSafe
        if let node = given[Self.repeatKey], !declaration.parameters.contains(where: { $0.name == Self.repeatKey }) {
            if reader.choice(node, "`repeat`", among: ["safe"]) == nil { isGood = false } else { isSafe = true }
        }
        var arguments: [String: Arguments.Argument] = [:]
        for spec in declaration.parameters {
            if case .steps = spec.kind, given[spec.name] != nil { continue }
            if let node = given[spec.name] {
                arguments[spec.name] = argument(node, spec, known)
                if arguments[spec.name] == nil { isGood = false }
            } else if let standard = spec.defaultValue, spec.unless.flatMap({ given[$0] }) == nil {
                arguments[spec.name] = self.standard(standard, spec)
                if arguments[spec.name] == nil {
                    reportDefault(standard, spec, of: what, at: entry.keyPosition)
                    isGood = false
                }
            } else if spec.required {
                reader.report(entry.keyPosition, "\(what) needs `\(spec.name)`", hint: spec.summary)
                isGood = false
            }
        }
        var repetition: Repetition?
        if declaration.name == ForEach.declaration.name {
            repetition = self.repetition(given, arguments, known: known)
            if repetition == nil { isGood = false }
        }
        guard isGood else { return nil }
        let names = Set(given.entries.map(\.key)).subtracting([Self.repeatKey])
        let checked = Arguments(action: declaration.name, timeZone: timeZone, all: arguments, given: names)
        do {
            let stored = try checked.json()
            let action = try definition.make(checked)
            try action.check(subject)
            registry.made.keep(MadeAction(action, checked), declaration.name, stored)
            return StepTemplate(
                index: index, action: action, declaration: declaration, arguments: checked, storedArguments: stored,
                repeatSafe: isSafe, position: entry.keyPosition, repetition: repetition)
        } catch let fault as ArgumentFault {
            let position = given[fault.parameter]?.position ?? entry.keyPosition
            let message = "`\(fault.parameter)` of \(what): \(fault.message)"
            if fault.isLack { reader.reportLack(position, message) } else { reader.report(position, message) }
        } catch {
            reader.report(entry.keyPosition, "\(what) cannot be used so: \(explain(error))")
        }
        return nil
    }

    /// A parameter's declared default; nil for a place that is not configured.
    private func standard(_ text: String, _ spec: ParameterSpec) -> Arguments.Argument? {
        switch spec.kind {
        case .template: whole(text).map { .template($0) }
        case .templateList: whole(text).map { .templates([$0]) }
        case .literal, .choice: .literal(text)
        case .boolean: .boolean(text == "true")
        case .integer: Int(text).map { .integer($0) }
        case .duration: Quantity.seconds(text).map { .duration($0) }
        case .place: places.first { $0.name == text }.map { .place($0) }
        case .templateMap: .map([])
        case .steps: nil
        }
    }

    private func whole(_ text: String) -> Template? {
        let (template, faults) = Template.read(text)
        return faults.isEmpty ? template : nil
    }

    private func reportDefault(_ text: String, _ spec: ParameterSpec, of what: String, at position: SourcePosition) {
        guard case .place = spec.kind else {
            reader.report(position, "the default `\(text)` of \(what)'s `\(spec.name)` cannot be read; this is a bug")
            return
        }
        let message = "\(what) uses the place `\(text)`, which is not configured, unless `\(spec.name)` is given"
        reader.reportLack(position, message, hint: Suggest.hint(for: "", among: places.map(\.name)))
    }

    private func argument(_ node: YamlNode, _ spec: ParameterSpec, _ known: Set<String>) -> Arguments.Argument? {
        let what = "`\(spec.name)`"
        switch spec.kind {
        case .template:
            return template(node, what, known).map { .template($0) }
        case .templateList:
            let items = reader.oneOrMore(node)
            let templates = items.compactMap { template($0, what, known) }
            return templates.count == items.count ? .templates(templates) : nil
        case .literal:
            guard let text = reader.text(node, what) else { return nil }
            if text.contains("{{") {
                let hint = "write the text itself"
                reader.report(
                    reader.source.positionOfBraces(0, offset: 0, after: node.position) ?? node.position,
                    "\(what) takes no `{{ }}`", hint: hint)
                return nil
            }
            return .literal(text)
        case .choice(let words): return reader.choice(node, what, among: words).map { .literal($0) }
        case .boolean: return reader.boolean(node, what).map { .boolean($0) }
        case .integer(let range): return reader.integer(node, what, in: range).map { .integer($0) }
        case .duration: return reader.duration(node, what).map { .duration($0) }
        case .place:
            guard let name = reader.text(node, what) else { return nil }
            if let place = places.first(where: { $0.name == name }) { return .place(place) }
            let hint = Suggest.hint(for: name, among: places.map(\.name))
            reader.reportLack(node.position, "unknown place `\(printable(name))`", hint: hint)
            return nil
        case .templateMap:
            guard let mapping = reader.mapping(node, what) else { return nil }
            let entries = mapping.entries.compactMap { entry in
                template(entry.value, "`\(spec.name)`: `\(printable(entry.key))`", known).map {
                    (name: entry.key, template: $0)
                }
            }
            return entries.count == mapping.entries.count ? .map(entries) : nil
        case .steps: return nil
        }
    }

    /// A template that uses only known values; errors are reported at their character.
    private func template(_ node: YamlNode, _ what: String, _ known: Set<String>) -> Template? {
        guard let text = reader.anyText(node, what) else { return nil }
        func position(_ place: Template.Place) -> SourcePosition {
            reader.source.positionOfBraces(place.braces, offset: place.offset, after: node.position) ?? node.position
        }
        let (template, faults) = Template.read(text)
        for fault in faults { reader.report(position(fault.place), fault.message, hint: fault.hint) }
        var isGood = faults.isEmpty
        for reference in template.references where !isKnown(reference.name, known) {
            reader.report(
                position(reference.place), "unknown value `\(printable(reference.name))`",
                hint: hint(reference.name, known))
            isGood = false
        }
        for reference in template.references {
            guard let lookup = LookupName(value: reference.name), isKnown(lookup.key, known),
                let fault = LookupCheck(tables: tables, planned: plannedNames).fault(lookup)
            else { continue }
            reader.report(position(reference.place), fault.message, hint: fault.hint)
            isGood = false
        }
        return isGood ? template : nil
    }

    private func isKnown(_ name: String, _ known: Set<String>) -> Bool {
        known.contains(name) || CounterName(value: name) != nil || LookupName(value: name) != nil
            || (known.contains("*")
                && !["file.", "folder.", "job.", "block.", "document.", "photo.", "media."].contains(
                    where: name.hasPrefix))
            || (subject == .files && name.hasPrefix(BuiltInValues.frontPrefix)
                && name.count > BuiltInValues.frontPrefix.count)
    }

    private func hint(_ name: String, _ known: Set<String>) -> String? {
        if subject == .files, name.hasPrefix("folder.") { return "`folder.*` needs `match: folders`" }
        if name.hasPrefix("block."), !usesBlocks { return "`block.*` needs the condition `anchor`" }
        if let items = RepeatedItems.allCases.first(where: { $0.values.contains { $0.name == name } }) {
            return "only the steps of `for-each: { of: \(items.rawValue) }` know it"
        }
        for definition in registry.definitions
        where definition.declaration.provides.contains(where: { $0.name == name }) {
            return "`\(definition.declaration.name)` provides it, and must be an earlier step of this rule"
        }
        return Suggest.closest(to: name, among: known.sorted()).map { "did you mean `\($0)`?" }
    }
}
