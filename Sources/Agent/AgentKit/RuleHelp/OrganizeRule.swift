import Foundation
import Platform
import Rules

/// One rule of organize's, being carried over.
struct OrganizeRule {
    /// A folder that a rule looks into.
    struct Location {
        let path: String
        let options: [YamlEntry]
    }

    private let node: YamlNode
    private let number: Int
    private let comment: [String]
    private(set) var notes: [OrganizeImport.Note] = []
    private(set) var isCarriedOver = false

    init(_ node: YamlNode, number: Int, comment: [String]) {
        self.node = node
        self.number = number
        self.comment = comment
    }

    private subscript(key: String) -> YamlEntry? { Self.entries(node).first { $0.key == key } }

    static func entries(_ node: YamlNode) -> [YamlEntry] {
        guard case .mapping(let entries) = node.content else { return [] }
        return entries
    }

    static func option(_ key: String, _ node: YamlNode) -> String? {
        entries(node).first { $0.key == key }?.value.scalar
    }

    /// Lists within lists, as organize takes them, in one.
    static func flat(_ node: YamlNode) -> [YamlNode] {
        guard case .sequence(let items) = node.content else { return node.isNull ? [] : [node] }
        return items.flatMap(flat)
    }

    static func locations(of rule: YamlNode) -> [Location] {
        guard let node = entries(rule).first(where: { $0.key == "locations" })?.value else { return [] }
        return flat(node).flatMap { item -> [Location] in
            if let path = item.scalar { return [Location(path: path, options: [])] }
            let options = entries(item)
            let paths = options.first { $0.key == "path" }.map { flat($0.value).compactMap(\.scalar) } ?? []
            return paths.map { Location(path: $0, options: options.filter { $0.key != "path" }) }
        }
    }

    mutating func note(_ position: SourcePosition, _ message: String) {
        notes.append(OrganizeImport.Note(line: position.line, message: message))
    }

    /// The rule as lines of a rule file; as comments, where nothing of it can be carried over.
    mutating func lines(_ places: inout OrganizePlaces) -> [String] {
        let name = self["name"]?.value.scalar ?? "Rule \(number) of organize"
        let locations = Self.locations(of: node)
        let simple = locations.filter { !$0.path.contains("{") && !$0.path.contains("$") && !$0.path.contains("://") }
        for location in locations where !simple.contains(where: { $0.path == location.path }) {
            note(node.position, "the location `\(printable(location.path))` is no plain folder, and is left out")
        }
        let subject: RuleSubject = self["targets"]?.value.scalar == "dirs" ? .folders : .files
        if simple.isEmpty { return leftOut(name, "it has no location that could be a place") }
        var conditions = OrganizeFilters.depth(
            simple, recurses: self["subfolders"]?.value.scalar?.lowercased() == "true")
        // A rule about folders that does not say how deep is about those directly in the place.
        if subject == .folders, conditions.isEmpty { conditions = ["depth: \">= 0\""] }
        let names = simple.map { places.add($0.path) }
        let unique = names.enumerated().filter { names.firstIndex(of: $0.element) == $0.offset }.map(\.element)
        var filters = OrganizeFilters(places: unique, of: subject)
        filters.read(self["filters"]?.value)
        let mode = self["filter_mode"]?.value.scalar ?? "all"
        var actions = OrganizeActions(places, of: subject, mayDelete: mode == "all" && filters.asksForAge)
        actions.read(self["actions"]?.value)
        places = actions.places
        notes += filters.notes + actions.notes
        for location in simple {
            for option in location.options where !["max_depth", "min_depth", "search"].contains(option.key) {
                note(
                    option.keyPosition, "`\(option.key)` of a location is left out; `not: { path: … }` says such things"
                )
            }
        }
        if let missing = filters.missing { return leftOut(name, "its filter `\(missing)` cannot be carried over") }
        if actions.steps.isEmpty { return leftOut(name, "none of its actions can be carried over") }
        conditions += filters.combined(mode)
        isCarriedOver = true
        var out = comment.map { "# \($0)" }
        if self["enabled"]?.value.scalar?.lowercased() == "false" {
            note(node.position, "the rule `\(printable(name))` was switched off, and is a comment")
            isCarriedOver = false
        }
        out += said(filters.notes + actions.notes)
        let all = conditions.isEmpty ? [] : ["  where:", "    all:"] + conditions.map { "      - \($0)" }
        let rule =
            ["- rule: \(YamlText.scalar(name))", "  in: \(YamlText.list(unique))"]
            + (subject == .folders ? ["  match: folders"] : []) + all + ["  do:"]
            + actions.steps.map { "    - \($0)" }
        return out + (isCarriedOver ? rule : rule.map { "# \($0)" })
    }

    private func said(_ notes: [OrganizeImport.Note]) -> [String] {
        notes.map { "# line \($0.line) of organize's file: \($0.message)" }
    }

    private mutating func leftOut(_ name: String, _ why: String) -> [String] {
        let message = "the rule `\(printable(name))` is left out: \(why)"
        note(node.position, message)
        return comment.map { "# \($0)" } + ["# line \(node.position.line) of organize's file: \(message)"]
    }
}
