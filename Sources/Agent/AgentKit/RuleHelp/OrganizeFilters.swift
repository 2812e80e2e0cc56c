import Foundation
import Platform
import Rules

/// organize's filters as conditions.
struct OrganizeFilters {
    private(set) var notes: [OrganizeImport.Note] = []
    /// A filter that cannot be carried over: without it the rule would take other files.
    private(set) var missing: String?
    /// Whether a file must have come to some age.
    private(set) var asksForAge = false
    /// Each filter's conditions, all of which must hold.
    private var conditions: [[String]] = []
    /// Those that the rule looks into.
    private let places: [String]
    private let subject: RuleSubject

    /// Those that ask nothing about what is in a file.
    private static let ofFolders: Set = [
        "name", "regex", "empty", "lastmodified", "created", "date_added", "date_lastused",
    ]

    init(places: [String], of subject: RuleSubject) {
        self.places = places
        self.subject = subject
    }

    /// What is not recursive looks at the folder alone.
    static func depth(_ locations: [OrganizeRule.Location], recurses: Bool) -> [String] {
        guard let first = locations.first else { return [] }
        func number(_ key: String) -> String?? { first.options.first { $0.key == key }.map { $0.value.scalar } }
        var out: [String] = []
        if let least = number("min_depth") ?? nil, least != "0" { out.append("depth: \">= \(least)\"") }
        switch number("max_depth") {
        case .none: if !recurses { out.append("depth: 0") }
        case .some(let most):
            if let most, Int(most) != nil { out.append(most == "0" ? "depth: 0" : "depth: \"<= \(most)\"") }
        }
        return out
    }

    mutating func read(_ node: YamlNode?) {
        guard let node else { return }
        for item in OrganizeRule.flat(node) {
            if let name = item.scalar {
                add(name, nil, item.position)
            } else if let entry = OrganizeRule.entries(item).first {
                add(entry.key, entry.value, entry.keyPosition)
            }
        }
    }

    /// As conditions that must all hold.
    func combined(_ mode: String) -> [String] {
        let filters = conditions.filter { !$0.isEmpty }
        guard mode != "all", !filters.isEmpty else { return filters.flatMap { $0 } }
        let each = filters.map {
            $0.count == 1 ? "{ \($0[0]) }" : "{ all: [\($0.map { "{ \($0) }" }.joined(separator: ", "))] }"
        }
        let any = "any: [\(each.joined(separator: ", "))]"
        return [mode == "none" ? "not: { \(any) }" : any]
    }

    private mutating func add(_ written: String, _ value: YamlNode?, _ position: SourcePosition) {
        let isNegated = written.hasPrefix("not ")
        let name = isNegated ? String(written.dropFirst(4)) : written
        let askedForAge = asksForAge
        guard subject == .files || Self.ofFolders.contains(name), let found = condition(name, value, position) else {
            missing = missing ?? written
            return notes.append(
                OrganizeImport.Note(
                    line: position.line, message: "the filter `\(printable(written))` cannot be carried over"))
        }
        guard isNegated, !found.isEmpty else { return conditions.append(found) }
        asksForAge = askedForAge
        let inner = found.count == 1 ? found[0] : "all: [\(found.map { "{ \($0) }" }.joined(separator: ", "))]"
        conditions.append(["not: { \(inner) }"])
    }

    private mutating func note(_ position: SourcePosition, _ message: String) {
        notes.append(OrganizeImport.Note(line: position.line, message: message))
    }

    /// Empty for a filter that every file passes; nil for one that there is no condition for.
    private mutating func condition(_ name: String, _ value: YamlNode?, _ position: SourcePosition) -> [String]? {
        let texts = value.map { OrganizeRule.flat($0).compactMap(\.scalar) } ?? []
        switch name {
        case "extension":
            let endings = texts.flatMap { $0.split(separator: " ") }.map { $0.drop { $0 == "." }.lowercased() }
            return endings.isEmpty ? [] : ["extension: \(YamlText.list(endings))"]
        case "name": return names(value)
        case "size": return sizes(texts)
        case "empty": return ["empty: true"]
        case "mimetype":
            guard !texts.isEmpty else { return [] }
            note(position, "`mimetype` looks at the name; `mime` looks at what the file holds")
            return ["mime: \(YamlText.list(texts.map { OrganizeText.literal($0) + "*" }))"]
        case "lastmodified": return age("modified", value, position)
        case "created": return age("created", value, position)
        case "date_added": return age("arrived", value, position)
        case "date_lastused": return age("accessed", value, position)
        case "hash": return value.map { OrganizeRule.flat($0).isEmpty } ?? true ? [] : nil
        case "filecontent":
            guard let pattern = texts.first else { return nil }
            return ["contains: { matches: \(YamlText.scalar("(?s)" + Self.groups(pattern))), case: match }"]
        case "regex":
            guard let pattern = texts.first ?? value.flatMap({ OrganizeRule.option("expr", $0) }) else { return nil }
            return ["name-matches: \(YamlText.scalar(Self.groups(pattern)))"]
        case "duplicate": return duplicate(value, position)
        case "exif": return exif(value, position)
        case "macos_tags":
            guard !texts.isEmpty else { return nil }
            note(position, "`macos_tags` becomes the attribute user.xdg.tags; colours are left out")
            let tags = texts.map { "*" + String($0.prefix { $0 != "(" }).trimmingCharacters(in: .whitespaces) + "*" }
            return ["xattr: { user.xdg.tags: \(YamlText.list(tags)) }"]
        default: return nil
        }
    }

    private func names(_ value: YamlNode?) -> [String]? {
        guard let value else { return [] }
        let entries =
            value.scalar.map { [("match", [$0])] }
            ?? OrganizeRule.entries(value).map {
                ($0.key, OrganizeRule.flat($0.value).compactMap(\.scalar))
            }
        let isAnyCase = entries.contains { $0.0 == "case_sensitive" && $0.1.first?.lowercased() == "false" }
        func line(_ globs: [String]) -> String {
            "name: \(YamlText.list(isAnyCase ? globs.map(OrganizeText.anyCase) : globs))"
        }
        var out: [String] = []
        for (key, texts) in entries where !texts.isEmpty {
            let parts = texts.map(OrganizeText.literal)
            switch key {
            case "match":
                guard texts.allSatisfy({ !$0.contains("{") }) else { return nil }
                // organize looks at the name without its ending.
                let globs = texts.map {
                    $0.split(separator: "*", omittingEmptySubsequences: false).map { OrganizeText.literal(String($0)) }
                        .joined(separator: "*")
                }
                if globs != ["*"] { out.append(line(globs.flatMap { [$0, $0 + ".*"] })) }
            case "startswith": out.append(line(parts.map { $0 + "*" }))
            case "contains": out.append(line(parts.map { "*" + $0 + "*" }))
            case "endswith": out.append(line(parts.flatMap { ["*" + $0, "*" + $0 + ".*"] }))
            case "case_sensitive": break
            default: return nil
            }
        }
        return out
    }

    private func sizes(_ texts: [String]) -> [String]? {
        let parts = texts.flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " }.lowercased() }
        let bounds = parts.compactMap { part -> String? in
            guard let match = part.wholeMatch(of: /([<>=]*)((?:\d*\.)?\d+)([kmgt]?)(i?)b?/) else { return nil }
            let sign = match.1.isEmpty || match.1 == "=" || match.1 == "==" ? "" : "\(match.1) "
            let unit = match.3.isEmpty ? "B" : "\(match.3.uppercased())\(match.4)B"
            return "\(sign)\(match.2) \(unit)"
        }
        guard bounds.count == parts.count else { return nil }
        return bounds.isEmpty ? [] : ["size: \(YamlText.list(bounds))"]
    }

    /// Named groups as they are written here.
    private static func groups(_ pattern: String) -> String {
        pattern.replacing(/\(\?P<(\w+)>/) { "(?<\(OrganizeText.group(String($0.output.1)))>" }
    }

    private mutating func duplicate(_ value: YamlNode?, _ position: SourcePosition) -> [String]? {
        let method = value.flatMap { OrganizeRule.option("detect_original_by", $0) } ?? "first_seen"
        let originals = ["first_seen": "arrived-first", "name": "first-by-name"]
        guard let original = originals[method] else {
            note(position, "`detect_original_by: \(printable(method))` has no counterpart in `duplicate-of`")
            return nil
        }
        if method == "first_seen" {
            note(position, "the original is the file that came first, not the one that is met first")
        }
        let searched = places.count == 1 ? "here" : YamlText.list(places)
        return ["duplicate-of: { in: \(searched), original: \(original) }"]
    }

    /// organize's tags, as the library exifread calls them, and what they are here.
    private static let exifKeys = [
        "image.make": "make", "image.model": "model", "exif.lensmodel": "lens", "image.datetime": "taken",
        "exif.datetimeoriginal": "taken", "exif.datetimedigitized": "taken", "exif.offsettimeoriginal": "offset",
        "exif.exifimagewidth": "width", "exif.exifimagelength": "height", "image.orientation": "orientation",
    ]

    private mutating func exif(_ value: YamlNode?, _ position: SourcePosition) -> [String]? {
        var wanted: [(key: String, glob: String?)] = []
        for item in value.map(OrganizeRule.flat) ?? [] {
            if let key = item.scalar { wanted.append((key, nil)) }
            for entry in OrganizeRule.entries(item) where entry.key != "lowercase_keys" {
                if entry.key == "filter_tags" {
                    wanted += OrganizeRule.entries(entry.value).map { ($0.key, $0.value.scalar) }
                } else {
                    wanted.append((entry.key, entry.value.scalar))
                }
            }
        }
        // A picture that says anything at all of itself.
        if wanted.isEmpty {
            return [
                "any: [\(["make", "model", "taken"].map { "{ exif: { \($0): present } }" }.joined(separator: ", "))]"
            ]
        }
        var tests: [String] = []
        for (written, glob) in wanted {
            let tag = written.lowercased()
            let isPlace = tag == "gps" || tag.hasPrefix("gps.gps")
            guard let key = isPlace ? "gps" : Self.exifKeys[tag], !isPlace || glob == nil else {
                note(position, "`exif` knows nothing of `\(printable(written))`")
                return nil
            }
            let text = glob.map { YamlText.scalar(OrganizeText.anyCase($0.replacing(/[{}\\]/) { "\\\($0.output)" })) }
            let test = "\(key): \(text ?? "present")"
            if !tests.contains(test) { tests.append(test) }
        }
        return ["exif: { \(tests.joined(separator: ", ")) }"]
    }

    private mutating func age(_ since: String, _ value: YamlNode?, _ position: SourcePosition) -> [String]? {
        let entries = value.map(OrganizeRule.entries) ?? []
        func number(_ key: String) -> Double {
            entries.first { $0.key == key }.flatMap { Double($0.value.scalar ?? "") } ?? 0
        }
        let months = Int(number("years")) * 12 + Int(number("months"))
        let lengths = ["weeks": 604_800.0, "days": 86_400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0]
        let seconds = Int(lengths.reduce(0.0) { $0 + number($1.key) * $1.value }.rounded())
        if months == 0 && seconds == 0 { return [] }
        if months > 0 && seconds > 0 { note(position, "a month counts as 30 days here, where days stand beside it") }
        let total = seconds + (seconds > 0 ? months * 30 * 86_400 : 0)
        let bound =
            total == 0
            ? (months % 12 == 0 ? "\(months / 12) year" : "\(months) month")
            : total % 86_400 == 0 ? "\(total / 86_400)d" : total % 3600 == 0 ? "\(total / 3600)h" : "\(total)s"
        let isNewer = entries.contains { $0.key == "mode" && $0.value.scalar == "newer" }
        if !isNewer { asksForAge = true }
        let test = "\"\(isNewer ? "<" : ">") \(bound)\""
        return [since == "modified" ? "age: \(test)" : "age: { since: \(since), is: \(test) }"]
    }
}
