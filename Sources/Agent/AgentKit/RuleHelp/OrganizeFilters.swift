import Foundation
import Platform
import Rules

/// Converts organize's filters to conditions.
struct OrganizeFilters {
    /// The conditions, all of which must hold.
    private(set) var conditions: [String] = []
    private(set) var notes: [OrganizeImport.Note] = []
    /// Reasons to disable the rule although every filter has a condition.
    private(set) var losses: [OrganizeImport.Note] = []
    /// Whether the rule requires a minimum age.
    private(set) var asksForAge = false
    /// The names of the filters, whose values placeholders can use.
    private(set) var names: Set<String> = []

    private let places: [String]
    private let subject: RuleSubject
    /// Whether the rule covers all files of its places.
    private let areWhole: Bool
    private let mode: String

    /// The test of a filter.
    private enum Test {
        case always
        case never
        /// All of the conditions must hold. An inexact test matches no more files than organize's does, so its negation
        /// would match too many. `besides` must hold in either case.
        case asks([String], isExact: Bool = true, besides: [String] = [])
    }

    /// Filters that do not look into files.
    private static let ofFolders: Set = [
        "name", "regex", "empty", "lastmodified", "created", "date_added", "date_lastused",
    ]

    /// - Parameters:
    ///   - mode: `all`, `any` or `none`.
    ///   - areWhole: whether the rule covers all files of its places.
    /// - Throws: ``OrganizeLoss`` for a filter that cannot be converted without matching other files.
    init(
        _ node: YamlNode?, mode: String, of subject: RuleSubject, places: [String], areWhole: Bool,
        rule: SourcePosition
    ) throws(OrganizeLoss) {
        (self.mode, self.subject, self.places, self.areWhole) = (mode, subject, places, areWhole)
        var asked: [[String]] = []
        var isAlways = false
        let items = node?.organizeItems ?? []
        for (index, item) in items.enumerated() {
            let (written, value, position) = try OrganizeRule.named(item, "a filter")
            var name = written
            if name.hasPrefix("not ") { name.removeFirst(4) }
            let isNegated = name != written
            guard subject == .files || Self.ofFolders.contains(name) else {
                throw OrganizeLoss(position, "the filter `\(printable(name))` cannot be imported for folders")
            }
            let isTurned = isNegated != (mode == "none")
            let test = try test(name, value, position, isFirst: index == 0, isTurned: isTurned)
            names.insert(name)
            switch (test, isTurned) {
            case (.always, false), (.never, true): isAlways = true
            case (.never, false), (.always, true):
                guard mode == "any" else {
                    throw OrganizeLoss(position, "`\(printable(written))` never matches")
                }
            case (.asks(let found, _, let besides), false): asked.append(found + besides)
            case (.asks(let found, let isExact, let besides), true):
                guard isExact else {
                    throw OrganizeLoss(
                        position, "the filter `\(printable(name))` cannot be inverted: it would match more here")
                }
                asked.append(["not: \(Self.braced(found))"] + besides)
            }
        }
        guard mode == "any" else {
            conditions = asked.flatMap { $0 }
            return
        }
        if isAlways { return }
        guard !asked.isEmpty else { throw OrganizeLoss(rule, "with `filter_mode: any` none of its filters can hold") }
        asksForAge = false
        conditions = ["any: [\(asked.map(Self.braced).joined(separator: ", "))]"]
    }

    /// Combines conditions into one.
    static func braced(_ conditions: [String]) -> String {
        conditions.count == 1
            ? "{ \(conditions[0]) }" : "{ all: [\(conditions.map { "{ \($0) }" }.joined(separator: ", "))] }"
    }

    private mutating func note(_ position: SourcePosition, _ message: String) {
        notes.append(OrganizeImport.Note(line: position.line, message: message))
    }

    private mutating func lose(_ position: SourcePosition, _ message: String) {
        losses.append(OrganizeImport.Note(line: position.line, message: message))
    }

    private mutating func test(
        _ name: String, _ value: YamlNode?, _ position: SourcePosition, isFirst: Bool, isTurned: Bool
    ) throws(OrganizeLoss) -> Test {
        let what = "the filter `\(printable(name))`"
        switch name {
        case "extension":
            return try OrganizeKeys.read(value, what, bare: "extensions") { keys throws(OrganizeLoss) in
                try Self.extensions(keys.take("extensions"), position)
            }
        case "name":
            return try OrganizeKeys.read(value, what, bare: "match") { keys throws(OrganizeLoss) in
                try Self.name(&keys, position)
            }
        case "size":
            return try OrganizeKeys.read(value, what, bare: "conditions") { keys throws(OrganizeLoss) in
                try Self.sizes(keys.take("conditions")?.organizeTexts(what) ?? [], position)
            }
        case "empty": return try OrganizeKeys.read(value, what) { _ in .asks(["empty: true"]) }
        case "mimetype":
            lose(position, "organize derives a `mimetype` from the name; `mime` examines the content")
            return try OrganizeKeys.read(value, what, bare: "mimetypes") { keys throws(OrganizeLoss) in
                let types = try keys.take("mimetypes")?.organizeTexts(what) ?? []
                let globs = (types.isEmpty ? [""] : types).map { OrganizeText.literal($0) + "*" }
                return .asks(["mime: \(YamlText.list(globs))"])
            }
        case "lastmodified", "created", "date_added", "date_lastused":
            return try age(name, value, position, isTurned: isTurned)
        case "hash": return try OrganizeKeys.read(value, what) { _ in .always }
        case "filecontent":
            return try OrganizeKeys.read(value, what, bare: "expr") { keys throws(OrganizeLoss) in
                let expression = try Self.expression(try keys.text("expr") ?? "(?P<all>.*)", position)
                // organize reads only these files.
                return .asks(
                    [
                        "extension: [md, txt, log, pdf, docx]",
                        "contains: { matches: \(YamlText.scalar("(?sm)" + expression)), case: match }",
                    ], isExact: false)
            }
        case "regex":
            return try OrganizeKeys.read(value, what, bare: "expr") { keys throws(OrganizeLoss) in
                guard let text = try keys.text("expr") else { throw OrganizeLoss(position, "\(what) has no `expr`") }
                // organize sees a letter and its accent as one character, and its `.` stops at a line break.
                return .asks(
                    ["name-matches: \(YamlText.scalar(try Self.expression(text, position)))"],
                    besides: [#"not: { name: "*[\u0001-\u001F\u007F-\u009F\u0300-\u036F\u2028\u2029]*" }"#])
            }
        case "duplicate": return try duplicate(value, position, isAlone: isFirst && mode == "all")
        case "exif": return try exif(value, position)
        case "macos_tags":
            lose(position, "organize supports `macos_tags` only on macOS; here tags are the attribute user.xdg.tags")
            return try OrganizeKeys.read(value, what, bare: "tags") { keys throws(OrganizeLoss) in
                let tags = try keys.take("tags")?.organizeTexts(what) ?? []
                guard !tags.isEmpty else { return .always }
                let globs = tags.map {
                    "*" + String($0.prefix { $0 != "(" }).trimmingCharacters(in: .whitespaces) + "*"
                }
                return .asks(["xattr: { user.xdg.tags: \(YamlText.list(globs)) }"])
            }
        default: throw OrganizeLoss(position, "\(what) cannot be imported")
        }
    }

    private static func expression(_ text: String, _ position: SourcePosition) throws(OrganizeLoss) -> String {
        guard let expression = OrganizePatterns.expression(text) else {
            throw OrganizeLoss(
                position, "the regular expression `\(printable(text))` may mean something else here")
        }
        return expression
    }

    private static func extensions(_ node: YamlNode?, _ position: SourcePosition) throws(OrganizeLoss) -> Test {
        var endings = try node?.organizeTexts("an extension") ?? []
        if let text = node?.scalar { endings = text.split(whereSeparator: \.isWhitespace).map(String.init) }
        if endings.isEmpty { return .always }
        // organize compares with the part after the last dot.
        let found = endings.map { ($0.hasPrefix(".") ? String($0.dropFirst()) : $0).lowercased() }
            .filter { !$0.isEmpty && !$0.contains(".") && !$0.contains(where: \.isWhitespace) }
        guard !found.isEmpty else { return .never }
        guard found.allSatisfy({ $0.allSatisfy(\.isASCII) }) else {
            throw OrganizeLoss(position, "an extension with letters other than a to z cannot be imported")
        }
        return .asks(["extension: \(YamlText.list(found))"])
    }

    private static func name(_ keys: inout OrganizeKeys, _ position: SourcePosition) throws(OrganizeLoss) -> Test {
        let isAnyCase = try !keys.boolean("case_sensitive", default: true)
        var lines: [String] = []
        func add(_ globs: [String]) throws(OrganizeLoss) {
            let cased = isAnyCase ? globs.compactMap(OrganizePatterns.anyCase) : globs
            guard cased.count == globs.count else {
                throw OrganizeLoss(
                    position, "a case-insensitive name with `[`, or with letters other than a to z, cannot be imported")
            }
            lines.append("stem: \(YamlText.list(cased))")
        }
        if let match = try keys.text("match"), match != "*" {
            guard !match.contains("{") else {
                throw OrganizeLoss(position, "the pattern `\(printable(match))` has fields; `name-like` knows such")
            }
            let parts = match.split(separator: "*", omittingEmptySubsequences: true).map {
                OrganizeText.literal(String($0))
            }
            let glob = (match.hasPrefix("*") ? "*" : "") + parts.joined(separator: "*")
            try add([glob + (match.hasSuffix("*") && !parts.isEmpty ? "*" : "")])
        }
        for (key, before, after) in [("startswith", "", "*"), ("contains", "*", "*"), ("endswith", "*", "")] {
            guard let node = keys.take(key) else { continue }
            let texts = try node.organizeTexts("`\(key)` of the filter `name`")
            if texts.isEmpty { return .never }
            if !texts.contains("") { try add(texts.map { before + OrganizeText.literal($0) + after }) }
        }
        // Not even `*` matches a line break.
        return .asks(lines.isEmpty ? ["stem: \"*\""] : lines)
    }

    private static func sizes(_ texts: [String], _ position: SourcePosition) throws(OrganizeLoss) -> Test {
        var bounds: [String] = []
        for text in texts {
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let written = part.filter { $0 != " " }.lowercased()
                guard let match = written.wholeMatch(of: /(<=|>=|==|=|<|>|)((?:\d*\.)?\d+)(?:([kmgt])(i?))?b?/) else {
                    throw OrganizeLoss(position, "the size `\(printable(String(part)))` cannot be imported")
                }
                let sign = match.1.hasPrefix("=") || match.1.isEmpty ? "" : "\(match.1) "
                let number = match.2.hasPrefix(".") ? "0\(match.2)" : String(match.2)
                let unit = match.3.map { "\($0.uppercased())\(match.4 ?? "")B" } ?? "B"
                // The size must be a whole number of bytes.
                guard let factor = Quantity.bytes("1 \(unit)"), let count = Double(number),
                    case let bytes = count * Double(factor), bytes < 1e15, bytes == bytes.rounded()
                else { throw OrganizeLoss(position, "the size `\(printable(String(part)))` cannot be imported") }
                bounds.append("\(sign)\(number) \(unit)")
            }
        }
        return bounds.isEmpty ? .always : .asks(["size: \(YamlText.list(bounds))"])
    }

    private mutating func duplicate(
        _ value: YamlNode?, _ position: SourcePosition, isAlone: Bool
    ) throws(OrganizeLoss) -> Test {
        let method = try OrganizeKeys.read(value, "the filter `duplicate`", bare: "detect_original_by") {
            keys throws(OrganizeLoss) in
            _ = try keys.text("hash_algorithm")
            return try keys.text("detect_original_by") ?? "first_seen"
        }
        let originals = ["first_seen": "arrived-first", "name": "first-by-name"]
        guard let original = originals[method] else {
            throw OrganizeLoss(
                position, "`detect_original_by: \(printable(method))` has no counterpart in `duplicate-of`")
        }
        if method == "first_seen" {
            lose(position, "the original is the file that arrived first here, not the one that organize finds first")
        } else {
            note(position, "if the names are the same as well, the file with the shorter path is the original")
        }
        if !isAlone || !areWhole {
            lose(position, "`duplicate-of` compares with all files of a place, organize with those it has examined")
        }
        let searched = places.count == 1 ? "here" : YamlText.list(places)
        return .asks(["duplicate-of: { in: \(searched), original: \(original) }"], isExact: false)
    }

    /// Tag names as in the library exifread, which organize uses, and their equivalents here.
    private static let exifKeys = ["image.make": "make", "image.model": "model", "exif.lensmodel": "lens"]

    private func exif(_ value: YamlNode?, _ position: SourcePosition) throws(OrganizeLoss) -> Test {
        var wanted: [(key: String, value: YamlNode?)] = []
        try OrganizeKeys.read(value, "the filter `exif`", bare: "") { keys throws(OrganizeLoss) in
            if let tag = try keys.text("") { wanted.append((tag, nil)) }
            guard try keys.boolean("lowercase_keys", default: true) else {
                throw OrganizeLoss(position, "`lowercase_keys: false` cannot be imported")
            }
            if case .mapping(let tags)? = keys.take("filter_tags")?.content {
                wanted += tags.map { ($0.key, $0.value) }
            }
            wanted += keys.takeAll().map { ($0.key, $0.value) }
        }
        // A picture with any metadata at all.
        if wanted.isEmpty {
            let tests = ["make", "model", "taken"].map { "{ exif: { \($0): present } }" }
            return .asks(["any: [\(tests.joined(separator: ", "))]"], isExact: false)
        }
        var tests: [String] = []
        for (tag, value) in wanted {
            let isPlace = tag == "gps" || tag.hasPrefix("gps.gps")
            let text = try value.flatMap { $0.isNull ? nil : $0 }?.organizeText("`\(printable(tag))` of `exif`")
            let glob = text.flatMap(OrganizePatterns.glob).flatMap(OrganizePatterns.anyCase)
            guard let key = isPlace ? "gps" : Self.exifKeys[tag], (text == nil) == (glob == nil),
                !isPlace || text == nil
            else { throw OrganizeLoss(position, "`exif` cannot ask for `\(printable(tag))` as organize does") }
            let test = "\(key): \(glob.map(YamlText.scalar) ?? "present")"
            if !tests.contains(test) { tests.append(test) }
        }
        return .asks(["exif: { \(tests.joined(separator: ", ")) }"], isExact: false)
    }

    private static let starts = [
        "lastmodified": "modified", "created": "created", "date_added": "arrived", "date_lastused": "accessed",
    ]

    private mutating func age(
        _ name: String, _ value: YamlNode?, _ position: SourcePosition, isTurned: Bool
    ) throws(OrganizeLoss) -> Test {
        let (numbers, isNewer) = try OrganizeKeys.read(value, "the filter `\(name)`") { keys throws(OrganizeLoss) in
            var numbers: [String: Int] = [:]
            for unit in ["years", "months", "weeks", "days", "hours", "minutes", "seconds"] {
                numbers[unit] = try keys.number(unit) ?? 0
            }
            if let zone = try keys.text("timezone"), zone != "local" {
                throw OrganizeLoss(position, "the filter `\(name)` with another `timezone` cannot be imported")
            }
            return (numbers, try keys.choice("mode", ["older", "newer"]) == "newer")
        }
        if name.hasPrefix("date_") { lose(position, "organize knows `\(name)` only on macOS") }
        if subject == .folders {
            lose(position, "a folder is as old as its most recently changed file here, not as the folder itself")
        }
        // Both are rounded so that fewer files match than by the calendar, never more.
        let (year, month) = isNewer ? (365, 28) : (366, 31)
        let isByCalendar = numbers["years"] != 0 || numbers["months"] != 0
        if isByCalendar { note(position, "a year counts as \(year) days here, a month as \(month)") }
        let lengths = [
            "years": year * 86_400, "months": month * 86_400, "weeks": 604_800, "days": 86_400, "hours": 3600,
            "minutes": 60, "seconds": 1,
        ]
        let total = lengths.reduce(0) { $0 + $1.value * (numbers[$1.key] ?? 0) }
        guard total > 0 else { return .always }
        guard total < 3_000_000_000 else {
            throw OrganizeLoss(position, "the filter `\(name)` exceeds what Steward can count")
        }
        let bound = total % 86_400 == 0 ? "\(total / 86_400)d" : total % 3600 == 0 ? "\(total / 3600)h" : "\(total)s"
        if !isNewer, !isTurned { asksForAge = true }
        let test = "\"\(isNewer ? "<" : ">") \(bound)\""
        let since = Self.starts[name] ?? "modified"
        return .asks(
            [since == "modified" ? "age: \(test)" : "age: { since: \(since), is: \(test) }"], isExact: !isByCalendar)
    }
}
