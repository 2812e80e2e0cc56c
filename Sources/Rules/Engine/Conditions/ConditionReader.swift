import Foundation
import Platform

/// Parses `where` into a ``Condition`` and reports all errors.
struct ConditionReader {
    let reader: YamlReader
    let places: [PlaceInfo]
    /// The agent's time zone, for days and times in rules.
    let timeZone: Zone
    /// What the rule is about.
    var subject = RuleSubject.files

    /// A mapping whose conditions must all hold, or a list of such mappings.
    func condition(_ node: YamlNode, _ what: String) -> Condition? {
        if case .sequence(let items) = node.content {
            if items.isEmpty {
                reader.report(node.position, "\(what) is an empty list", hint: "leave it out, or name a condition")
                return nil
            }
            return gathered(items.map { condition($0, "\(what)'s item") }).map { Condition.all($0) }
        }
        guard let mapping = reader.mapping(node, what, keys: ConditionSpec.keys) else { return nil }
        return gathered(parts(mapping)).map { $0.count == 1 ? $0[0] : .all($0) }
    }

    private func parts(_ mapping: YamlMapping) -> [Condition?] {
        mapping.entries.map { entry in
            switch entry.key {
            case "all": return condition(entry.value, "`all`")
            case "not": return condition(entry.value, "`not`").map { .not($0) }
            case "any":
                if case .mapping = entry.value.content,
                    let inner = reader.mapping(entry.value, "`any`", keys: ConditionSpec.keys)
                {
                    return gathered(parts(inner)).map { .any($0) }
                }
                guard let items = reader.sequence(entry.value, "`any`") else { return nil }
                if items.isEmpty {
                    reader.report(entry.value.position, "`any` is an empty list, so it could never hold")
                }
                return gathered(items.map { condition($0, "`any`'s item") }).map { .any($0) }
            default:
                guard let spec = ConditionSpec.byName[entry.key], isAsked(spec, entry),
                    let loaded = spec.load(entry.value, self)
                else { return nil }
                return .test(
                    ConditionTest(
                        text: "\(entry.key): \(printable(entry.value.oneLine))", usesBlocks: spec.usesBlocks,
                        extensions: loaded.extensions, literals: loaded.literals,
                        provides: spec.provides + loaded.provides,
                        attributes: loaded.attributes, asksForAge: loaded.asksForAge,
                        nextChange: loaded.nextChange, countsAge: loaded.countsAge, check: loaded.check))
            }
        }
    }

    /// Whether the condition supports the rule's subject.
    private func isAsked(_ spec: ConditionSpec, _ entry: YamlEntry) -> Bool {
        if spec.takes.contains(subject) { return true }
        let names = ConditionSpec.all.filter { $0.takes.contains(subject) }.map { "`\($0.name)`" }
        reader.report(
            entry.keyPosition, "`\(spec.name)` cannot be asked of \(subject.one)",
            hint: subject == .folders
                ? "a rule with `match: folders` may ask \(names.joined(separator: ", "))"
                : "say `match: folders` in a rule about folders")
        return false
    }

    /// All of them, or nil if one was rejected.
    private func gathered(_ parts: [Condition?]) -> [Condition]? {
        let good = parts.compactMap(\.self)
        return good.count == parts.count ? good : nil
    }

    // MARK: - Parts of conditions

    func texts(_ node: YamlNode, _ name: String) -> [String]? { reader.texts(node, "`\(name)`") }

    /// One glob or a list of globs; errors are reported at their character.
    func globs(_ node: YamlNode, _ name: String) -> [TextGlob]? {
        let items = reader.oneOrMore(node)
        guard let texts = texts(node, name) else { return nil }
        var globs: [TextGlob] = []
        for (item, text) in zip(items, texts) {
            if let glob = glob(text, item) { globs.append(glob) }
        }
        return globs.count == texts.count ? globs : nil
    }

    func glob(_ text: String, _ node: YamlNode) -> TextGlob? {
        do throws(Glob.Fault) {
            return try TextGlob(text)
        } catch {
            let position = reader.position(inside: node, offset: error.offset)
            reader.report(position, "the pattern `\(printable(text))` cannot be read: \(error.message)")
            return nil
        }
    }

    /// `> 1 KiB`, or a list of comparisons that must all hold (a range).
    func comparisons<Bound>(
        _ node: YamlNode, _ name: String, such example: String, bound: (String) -> Bound?
    ) -> [Comparison<Bound>]? {
        guard let texts = texts(node, name) else { return nil }
        let comparisons = texts.map { Comparison($0, bound: bound) }
        for (comparison, item) in zip(comparisons, reader.oneOrMore(node)) where comparison == nil {
            reader.report(
                item.position, "`\(name)` must be a comparison such as `\(example)`, not \(reader.shown(item))")
        }
        let good = comparisons.compactMap(\.self)
        return good.count == comparisons.count ? good : nil
    }

    /// Names with their expected values: `{ status: [draft, review], due: present }`. A list or a single name is
    /// short for `present`.
    func expectations(_ node: YamlNode, _ name: String) -> [(key: String, wanted: Expectation)]? {
        guard case .mapping(let entries) = node.content else {
            return texts(node, name)?.map { ($0, Expectation.present) }
        }
        if entries.isEmpty {
            reader.report(node.position, "`\(name)` names nothing to look for")
            return nil
        }
        let read = entries.map { entry -> (key: String, wanted: Expectation)? in
            switch entry.value.scalar {
            case "present": return (entry.key, .present)
            case "absent": return (entry.key, .absent)
            case "" where !entry.value.isNull: return (entry.key, .oneOf([]))
            default: return globs(entry.value, "\(name)`: `\(printable(entry.key))").map { (entry.key, .oneOf($0)) }
            }
        }
        let good = read.compactMap(\.self)
        return good.count == read.count ? good : nil
    }

    enum Expectation: Sendable {
        case present, absent
        /// An empty list matches the empty value.
        case oneOf([TextGlob])

        /// - Parameter found: nil if there is no such value.
        func holds(_ found: [String]?) -> Bool {
            switch self {
            case .present: found != nil
            case .absent: found == nil
            case .oneOf(let globs):
                found.map { values in
                    globs.isEmpty ? values == [""] : values.contains { value in globs.contains { $0.matches(value) } }
                }
                    ?? false
            }
        }
    }
}

extension YamlReader {
    /// The position of a character in a single-line scalar; the scalar's own if it cannot be determined.
    package func position(inside node: YamlNode, offset: Int) -> SourcePosition {
        guard source.lines.indices.contains(node.position.line - 1), let text = node.scalar else {
            return node.position
        }
        let rest = Array(source.lines[node.position.line - 1].unicodeScalars.dropFirst(node.position.column - 1))
        let quote = rest.first == "\"" || rest.first == "'" ? 1 : 0
        guard rest.dropFirst(quote).starts(with: text.unicodeScalars) else { return node.position }
        return SourcePosition(line: node.position.line, column: node.position.column + quote + offset)
    }
}
