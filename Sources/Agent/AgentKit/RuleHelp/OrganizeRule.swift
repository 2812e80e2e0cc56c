import Foundation
import Platform
import Rules

/// Converts one rule of organize: completely or not at all.
///
/// Nothing that keeps organize away from a file may be lost. So anything not understood throws an ``OrganizeLoss``, and
/// the rule is left out. If the conditions are complete but a step is not, or organize does not run the rule by
/// default, the rule becomes a comment preceded by the reasons.
struct OrganizeRule {
    private let node: YamlNode
    private let number: Int
    private let comment: [String]
    private(set) var notes: [OrganizeImport.Note] = []
    private(set) var isCarriedOver = false

    init(_ node: YamlNode, number: Int, comment: [String]) {
        (self.node, self.number, self.comment) = (node, number, comment)
    }

    /// The single key of an item in a list of filters or actions, or the item itself if it is a word.
    static func named(
        _ item: YamlNode, _ what: String
    ) throws(OrganizeLoss) -> (name: String, value: YamlNode?, position: SourcePosition) {
        if let name = item.scalar { return (name, nil, item.position) }
        guard case .mapping(let entries) = item.content, entries.count == 1, let entry = entries.first else {
            throw OrganizeLoss(item.position, "\(what) must be one word, or one key with its value")
        }
        return (entry.key, entry.value, entry.keyPosition)
    }

    /// The rule's source folders; empty if they cannot be determined.
    static func folders(of rule: YamlNode) -> [String] {
        guard case .mapping(let entries) = rule.content,
            let all = try? OrganizeLocation.all(entries.first { $0.key == "locations" }?.value)
        else { return [] }
        return all.flatMap(\.paths)
    }

    /// The parts of a converted rule.
    private struct Draft {
        var name: String
        /// The rule's lines.
        var lines: [String] = []
        /// Notes for the user.
        var notes: [OrganizeImport.Note] = []
        /// Why it must be disabled.
        var losses: [OrganizeImport.Note] = []
    }

    /// The rule as lines of a rule file; as comments if it is not converted.
    mutating func lines(_ places: inout OrganizePlaces) -> [String] {
        let title = name
        do throws(OrganizeLoss) {
            var book = places
            let draft = try OrganizeKeys.read(node, "a rule") { keys throws(OrganizeLoss) in
                try Self.draft(&keys, title, node.position, &book)
            }
            notes = draft.notes + draft.losses
            isCarriedOver = draft.losses.isEmpty
            if isCarriedOver { places = book } else { notes.append(leftOut("see the lines above")) }
            let said = draft.notes + (isCarriedOver ? [] : draft.losses)
            return comment.map { "# \($0)" } + said.map(Self.said)
                + (isCarriedOver ? draft.lines : draft.lines.map { "# \($0)" })
        } catch {
            notes = [
                OrganizeImport.Note(
                    line: error.line, message: "the rule `\(printable(title))` is omitted: \(error.message)")
            ]
            return comment.map { "# \($0)" } + notes.map(Self.said)
        }
    }

    private var name: String {
        guard case .mapping(let entries) = node.content,
            let name = entries.first(where: { $0.key == "name" })?.value.scalar, !name.isEmpty
        else { return "Rule \(number) of organize" }
        return name
    }

    private func leftOut(_ why: String) -> OrganizeImport.Note {
        OrganizeImport.Note(
            line: node.position.line, message: "the rule `\(printable(name))` is written as a comment: \(why)")
    }

    private static func said(_ note: OrganizeImport.Note) -> String {
        "# line \(note.line) of organize's file: \(note.message)"
    }

    private static func draft(
        _ keys: inout OrganizeKeys, _ name: String, _ position: SourcePosition, _ places: inout OrganizePlaces
    ) throws(OrganizeLoss) -> Draft {
        var draft = Draft(name: name)
        func lose(_ message: String) {
            draft.losses.append(OrganizeImport.Note(line: position.line, message: message))
        }
        _ = keys.take("name")
        if try !keys.boolean("enabled", default: true) { lose("the rule is switched off") }
        let tags = keys.take("tags")
        let words = try tags?.organizeTexts("a tag") ?? []
        if let tags, case .sequence = tags.content {
        } else if tags != nil {
            throw OrganizeLoss(position, "`tags` must be a list")
        }
        // organize always runs rules tagged `always`.
        if !words.isEmpty, !words.contains("always") {
            let shown = printable(words.joined(separator: ", "))
            lose("organize can select rules by their tags (\(shown)); Steward cannot")
        }
        let subject: RuleSubject = try keys.choice("targets", ["files", "dirs"]) == "dirs" ? .folders : .files
        let recurses = try keys.boolean("subfolders", default: false)
        let mode = try keys.choice("filter_mode", ["all", "any", "none"])
        var locations = try OrganizeLocation.all(keys.take("locations"))
        guard !locations.isEmpty else { throw OrganizeLoss(position, "none of its locations can become a place") }

        var looks: [(place: String, conditions: [String])] = []
        for index in locations.indices {
            let conditions = try locations[index].conditions(recurses: recurses, of: subject)
            for path in locations[index].paths { looks.append((places.add(path), conditions)) }
            draft.notes += locations[index].notes
        }
        var names: [String] = []
        for look in looks where !names.contains(look.place) { names.append(look.place) }
        let filters = try OrganizeFilters(
            keys.take("filters"), mode: mode, of: subject, places: names,
            areWhole: locations.allSatisfy { $0.isWhole(recurses: recurses) }, rule: position)
        let actions = try OrganizeActions(
            keys.take("actions"), places, of: subject, mayDelete: filters.asksForAge && mode == "all",
            filters: filters.names)
        places = actions.places
        draft.notes += filters.notes + actions.notes
        draft.losses += filters.losses + actions.losses
        if actions.steps.isEmpty { throw OrganizeLoss(position, "none of its actions can be imported") }

        let conditions = found(in: looks, of: subject) + filters.conditions
        draft.lines =
            ["- rule: \(YamlText.scalar(name))", "  in: \(YamlText.list(names))"]
            + (subject == .folders ? ["  match: folders"] : [])
            + (conditions.isEmpty ? [] : ["  where:", "    all:"] + conditions.map { "      - \($0)" }) + ["  do:"]
            + actions.steps.map { "    - \($0)" }
        return draft
    }

    /// The conditions for a file to be in one of the rule's locations, each with its own.
    private static func found(
        in looks: [(place: String, conditions: [String])], of subject: RuleSubject
    ) -> [String] {
        guard let first = looks.first else { return [] }
        if looks.allSatisfy({ $0.conditions == first.conditions }) { return first.conditions }
        let each = looks.map { OrganizeFilters.braced(["place: \(YamlText.scalar($0.place))"] + $0.conditions) }
        return (subject == .folders ? ["depth: \">= 0\""] : []) + ["any: [\(each.joined(separator: ", "))]"]
    }
}
