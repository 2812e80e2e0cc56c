import Foundation
import Platform

/// Parses `examples` beside a rule.
struct RuleExampleReader {
    let reader: YamlReader
    /// For dates without an offset.
    let timeZone: Zone

    private static let keys = ["name", "file", "on", "before", "there", "expect"]
    private static let fileKeys = [
        "name", "place", "content", "from", "size", "modified", "age", "tags", "attributes",
    ]
    private static let expectKeys = [
        "matches", "moved-to", "copied-to", "name", "stays", "trashed", "gone", "holds", "tags", "refused",
    ]

    /// nil after reporting an error in one of them.
    func examples(_ node: YamlNode) -> [RuleExample]? {
        guard let items = reader.sequence(node, "`examples`") else { return nil }
        let examples = items.compactMap(example)
        return examples.count == items.count ? examples : nil
    }

    private func example(_ node: YamlNode) -> RuleExample? {
        guard let mapping = reader.mapping(node, "an example", keys: Self.keys) else { return nil }
        guard let fileNode = mapping["file"], let expectNode = mapping["expect"] else {
            reader.report(
                mapping.position, "an example needs `file` and `expect`",
                hint: "as in `{ file: { name: a.pdf }, expect: { moved-to: archive/a.pdf } }`")
            return nil
        }
        var event = FileEvent.arrived
        if let node = mapping["on"] {
            let word = reader.choice(node, "`on`", among: FileEvent.allCases.map(\.rawValue))
            guard let known = word.flatMap(FileEvent.init) else { return nil }
            event = known
        }
        let before = mapping["before"].map { file($0, "`before`") }
        if before == nil, event == .changed || event == .renamed {
            reader.report(
                mapping.position, "an example with `on: \(event.rawValue)` needs `before`: the file as it was",
                hint: "as in `before: { name: old.txt }`")
            return nil
        }
        guard let file = file(fileNode, "`file`"), let expectations = expectations(expectNode) else { return nil }
        var there: [RuleExample.File] = []
        if let node = mapping["there"] {
            guard let items = reader.sequence(node, "`there`") else { return nil }
            there = items.compactMap { self.file($0, "a file of `there`") }
            guard there.count == items.count else { return nil }
        }
        let name = mapping["name"].flatMap { reader.text($0, "`name`") }
        // `.some(nil)`: present but rejected.
        if case .some(.none) = before { return nil }
        return RuleExample(
            name: name ?? file.path.text, event: event, file: file, before: before ?? nil, there: there,
            expectations: expectations, position: mapping.position)
    }

    private func file(_ node: YamlNode, _ what: String) -> RuleExample.File? {
        guard let mapping = reader.mapping(node, what, keys: Self.fileKeys) else { return nil }
        guard let nameNode = mapping["name"], let name = reader.text(nameNode, "`name`") else {
            reader.report(mapping.position, "\(what) needs a `name`: its path below the place")
            return nil
        }
        let path = BytePath(name)
        guard !path.isAbsolute, !path.isEmpty, path.components.allSatisfy({ $0 != ArraySlice("..".utf8) }) else {
            reader.report(nameNode.position, "`\(printable(name))` is no path below a place")
            return nil
        }
        let place = mapping["place"].map { reader.text($0, "`place`") }
        let tags = mapping["tags"].map { reader.texts($0, "`tags`") }
        let modified = time(mapping)
        let attributes = mapping["attributes"].map(attributes)
        guard let content = content(mapping) else { return nil }
        if case .some(.none) = place { return nil }
        if case .some(.none) = tags { return nil }
        if case .some(.none) = attributes { return nil }
        if case .some(.none) = modified { return nil }
        return RuleExample.File(
            place: place ?? nil, path: path, content: content, modified: modified ?? nil, tags: (tags ?? nil) ?? [],
            attributes: (attributes ?? nil) ?? [], position: mapping.position)
    }

    private func content(_ mapping: YamlMapping) -> RuleExample.Content? {
        let given = ["content", "from", "size"].filter { mapping[$0] != nil }
        guard given.count < 2 else {
            reader.report(mapping.position, "`\(given[0])` and `\(given[1])` exclude each other", hint: "keep one")
            return nil
        }
        if let node = mapping["content"] { return reader.anyText(node, "`content`").map { .text($0) } }
        if let node = mapping["from"] { return reader.text(node, "`from`").map { .file($0, node.position) } }
        guard let node = mapping["size"] else { return .text("") }
        guard let size = reader.size(node, "`size`") else { return nil }
        guard size <= RuleExample.largest else {
            reader.report(node.position, "an example's file has at most 64 MiB, which it is really written with")
            return nil
        }
        return .size(size)
    }

    private func time(_ mapping: YamlMapping) -> RuleExample.Time?? {
        if let node = mapping["age"] {
            if mapping["modified"] != nil {
                reader.report(node.position, "`age` and `modified` exclude each other", hint: "keep one")
                return .some(nil)
            }
            return .some(reader.duration(node, "`age`").map { .ago($0) })
        }
        guard let node = mapping["modified"] else { return nil }
        guard let text = reader.text(node, "`modified`") else { return .some(nil) }
        guard let time = DateFormat.date(.text(text), timeZone) else {
            reader.report(
                node.position,
                "`modified` must be a date such as `2026-03-09` or `2026-03-09 14:30`, not "
                    + reader.shown(node))
            return .some(nil)
        }
        return .some(.at(time))
    }

    private func attributes(_ node: YamlNode) -> [(name: String, value: String)]? {
        guard let mapping = reader.mapping(node, "`attributes`") else { return nil }
        let pairs = mapping.entries.compactMap { entry in
            reader.anyText(entry.value, "`\(printable(entry.key))`").map { (name: entry.key, value: $0) }
        }
        return pairs.count == mapping.entries.count ? pairs : nil
    }

    private func expectations(_ node: YamlNode) -> [RuleExample.Expectation]? {
        guard let mapping = reader.mapping(node, "`expect`", keys: Self.expectKeys) else { return nil }
        if mapping.entries.isEmpty {
            reader.report(node.position, "`expect` is empty", hint: "as in `expect: { matches: false }`")
            return nil
        }
        let found = mapping.entries.map { entry -> [RuleExample.Expectation]? in
            expectation(entry)?.map { RuleExample.Expectation(what: $0, position: entry.keyPosition) }
        }
        let all = found.compactMap { $0 }
        return all.count == found.count ? all.flatMap { $0 } : nil
    }

    private func expectation(_ entry: YamlEntry) -> [RuleExample.Expectation.What]? {
        let what = "`\(entry.key)`"
        switch entry.key {
        case "matches": return reader.boolean(entry.value, what).map { [.matches($0)] }
        case "moved-to": return reader.text(entry.value, what).map { [.movedTo($0)] }
        // In its own folder; a path with several parts begins with a place.
        case "name": return reader.text(entry.value, what).map { [.movedTo($0)] }
        case "copied-to": return reader.texts(entry.value, what).map { $0.map { .copiedTo($0) } }
        case "tags":
            if case .sequence(let items) = entry.value.content, items.isEmpty { return [.tags([])] }
            return reader.texts(entry.value, what).map { [.tags($0)] }
        case "refused": return reader.text(entry.value, what).map { [.refused($0)] }
        case "holds":
            guard let mapping = reader.mapping(entry.value, what) else { return nil }
            let pairs = mapping.entries.compactMap { entry in
                reader.anyText(entry.value, "`\(printable(entry.key))`").map {
                    RuleExample.Expectation.What.holds(path: entry.key, text: $0)
                }
            }
            return pairs.count == mapping.entries.count ? pairs : nil
        default: return flag(entry, what)
        }
    }

    private func flag(_ entry: YamlEntry, _ what: String) -> [RuleExample.Expectation.What]? {
        guard let isMeant = reader.boolean(entry.value, what) else { return nil }
        guard isMeant else {
            reader.report(entry.value.position, "\(what) is only ever `true`", hint: "leave it out")
            return nil
        }
        switch entry.key {
        case "stays": return [.stays]
        case "trashed": return [.trashed]
        default: return [.gone]
        }
    }

    // MARK: Schema

    private static let text: JSON = ["type": "string", "minLength": 1]
    private static let scalar: JSON = ["type": ["string", "number", "boolean"]]
    private static let texts: JSON = ["oneOf": [text, ["type": "array", "items": text]]]

    private static let fileSchema: JSON = [
        "type": "object", "additionalProperties": false, "required": ["name"],
        "properties": [
            "name": text, "place": text, "content": scalar, "from": text, "size": ["type": ["string", "integer"]],
            "modified": scalar, "age": RuleKey.duration, "tags": texts,
            "attributes": ["type": "object", "additionalProperties": scalar],
        ],
    ]

    static let schema: JSON = [
        "type": "array",
        "items": [
            "type": "object", "additionalProperties": false, "required": ["file", "expect"],
            "properties": [
                "name": text, "file": fileSchema, "on": RuleKey.words(FileEvent.allCases.map(\.rawValue)),
                "before": fileSchema, "there": ["type": "array", "items": fileSchema],
                "expect": [
                    "type": "object", "additionalProperties": false, "minProperties": 1,
                    "properties": [
                        "matches": ["type": "boolean"], "moved-to": text, "copied-to": texts, "name": text,
                        "stays": ["const": true], "trashed": ["const": true], "gone": ["const": true],
                        "holds": ["type": "object", "additionalProperties": scalar], "tags": texts, "refused": text,
                    ],
                ],
            ],
        ],
    ]
}
