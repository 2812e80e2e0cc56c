import Platform
import Rules

/// One or more source folders of an organize rule, with the files to skip there.
struct OrganizeLocation {
    let paths: [String]
    let position: SourcePosition
    private var least = 0
    /// Maximum number of folders between it and a file; nil for any depth. If ``inherits`` is set, the rule decides.
    private var most: Int?
    private var inherits = true
    private var wanted: [String]?
    private var wantedFolders: [String]?
    private var notWanted = ["thumbs.db", "desktop.ini", "~$*", ".DS_Store", ".localized"]
    private var notWantedFolders = [".git", ".svn"]
    /// Whether it sets its own exclusions.
    private var isChosen = false
    private(set) var notes: [OrganizeImport.Note] = []

    /// Maximum folder depth for name patterns on folders.
    private static let deepest = 8

    static func all(_ node: YamlNode?) throws(OrganizeLoss) -> [OrganizeLocation] {
        var all: [OrganizeLocation] = []
        for item in node?.organizeItems ?? [] {
            let location = try OrganizeKeys.read(item, "a location", bare: "path") { keys throws(OrganizeLoss) in
                try OrganizeLocation(&keys, item.position)
            }
            all.append(location)
        }
        return all
    }

    private init(_ keys: inout OrganizeKeys, _ position: SourcePosition) throws(OrganizeLoss) {
        self.position = position
        guard let path = keys.take("path") else { throw OrganizeLoss(position, "a location has no `path`") }
        paths = try path.organizeTexts("the location")
        for path in paths where !OrganizePlaces.isPlain(path) {
            throw OrganizeLoss(
                position,
                "the location `\(printable(path))` is not a literal path beginning with `/` or `~/`")
        }
        least = try keys.number("min_depth") ?? 0
        if let node = keys.take("max_depth"), node.scalar != "inherit" {
            inherits = false
            if !node.isNull {
                guard let text = node.scalar, let number = Int(text), number < 1000 else {
                    throw OrganizeLoss(node.position, "`max_depth` of a location must be a number, null or inherit")
                }
                most = max(0, number)
            }
        }
        _ = try keys.choice("search", ["breadth", "depth"])
        _ = try keys.boolean("ignore_errors", default: false)
        if let globs = try Self.globs(&keys, "system_exclude_files") { notWanted = globs }
        if let globs = try Self.globs(&keys, "system_exclude_dirs") { notWantedFolders = globs }
        let files = try Self.globs(&keys, "exclude_files")
        let folders = try Self.globs(&keys, "exclude_dirs")
        wanted = try Self.globs(&keys, "filter")
        wantedFolders = try Self.globs(&keys, "filter_dirs")
        isChosen = [files, folders, wanted, wantedFolders].contains { $0 != nil }
        notWanted += files ?? []
        notWantedFolders += folders ?? []
        if wantedFolders?.contains("*") == true { wantedFolders = nil }
        notWanted = Self.each(notWanted)
        notWantedFolders = Self.each(notWantedFolders)
    }

    /// nil if the key is missing or null.
    private static func globs(_ keys: inout OrganizeKeys, _ key: String) throws(OrganizeLoss) -> [String]? {
        guard let node = keys.take(key), !node.isNull else { return nil }
        var globs: [String] = []
        for text in try node.organizeTexts("a pattern of `\(key)`") {
            guard let glob = OrganizePatterns.glob(text) else {
                throw OrganizeLoss(node.position, "the pattern `\(printable(text))` cannot be imported")
            }
            globs.append(glob)
        }
        return globs
    }

    private static func each(_ globs: [String]) -> [String] {
        globs.enumerated().filter { globs.firstIndex(of: $0.element) == $0.offset }.map(\.element)
    }

    /// Whether it covers every file at any depth, apart from organize's default exclusions.
    func isWhole(recurses: Bool) -> Bool { !isChosen && least == 0 && (inherits ? recurses : most == nil) }

    /// The conditions for a file or folder to be covered.
    ///
    /// - Parameter recurses: whether the rule says `subfolders: true`.
    /// - Throws: ``OrganizeLoss`` if nothing could ever match.
    mutating func conditions(recurses: Bool, of subject: RuleSubject) throws(OrganizeLoss) -> [String] {
        var most = inherits ? (recurses ? nil : 0) : most
        if wanted?.isEmpty == true, subject == .files {
            throw OrganizeLoss(position, "an empty `filter` matches no file")
        }
        if wantedFolders?.isEmpty == true {
            guard subject == .files else { throw OrganizeLoss(position, "an empty `filter_dirs` matches no folder") }
            most = 0
        }
        var out: [String] = []
        if least > 0 { out.append("depth: \">= \(least)\"") }
        if let most { out.append(most == 0 ? "depth: 0" : "depth: \"<= \(most)\"") }
        // Without a depth, a rule about folders covers only those directly in the place.
        if subject == .folders, out.isEmpty { out.append("depth: \">= 0\"") }
        if let wantedFolders, subject == .folders || most != 0 {
            out.append("path: \(YamlText.list(paths(through: wantedFolders, to: most, of: subject)))")
        }
        if subject == .files {
            if let wanted { out.append("name: \(YamlText.list(wanted))") }
            if !notWanted.isEmpty { out.append("not: { name: \(YamlText.list(notWanted)) }") }
        } else if !notWantedFolders.isEmpty {
            out.append("not: { name: \(YamlText.list(notWantedFolders)) }")
        }
        if most != 0, !notWantedFolders.isEmpty {
            out.append("not: { path: \(YamlText.list(notWantedFolders.map { "**/\($0)/**" })) }")
        }
        return out
    }

    /// Path globs that require every folder to match one of the names, one glob per depth.
    private mutating func paths(through globs: [String], to most: Int?, of subject: RuleSubject) -> [String] {
        let plain = globs.map { $0.replacing(",", with: "\\,") }
        let folder = plain.count == 1 ? plain[0] : "{\(plain.joined(separator: ","))}"
        // A glob may expand to at most this many brace combinations.
        var depth = 1
        while depth < min(Self.deepest, most ?? .max), Self.power(plain.count, depth + 2) <= 1024 { depth += 1 }
        if depth < most ?? .max {
            notes.append(
                OrganizeImport.Note(
                    line: position.line,
                    message:
                        "`filter_dirs` is imported for \(depth) nested folders; anything deeper is left alone"
                ))
        }
        let last = subject == .folders ? folder : "*"
        return (0...depth).map { String(repeating: folder + "/", count: $0) + last }
    }

    private static func power(_ base: Int, _ exponent: Int) -> Int {
        (0..<exponent).reduce(1) { result, _ in min(result * base, 1_000_000) }
    }
}
