import Foundation
import Platform
import Rules

/// Converts organize's actions to steps.
struct OrganizeActions {
    private(set) var places: OrganizePlaces
    private(set) var steps: [String] = []
    private(set) var notes: [OrganizeImport.Note] = []
    /// Actions that cannot be converted; the other steps must not run without them.
    private(set) var losses: [OrganizeImport.Note] = []

    /// Whether organize's next action would apply to the copy.
    private var goesOnWithCopy = false
    /// Whether an irreversible step is preceded by a question or a minimum age.
    private var mayDelete: Bool

    private let subject: RuleSubject
    private let filters: Set<String>
    /// Actions that apply to whole folders.
    private static let ofFolders: Set = ["move", "rename", "trash", "delete", "confirm", "echo"]

    /// - Parameters:
    ///   - mayDelete: whether the rule requires a minimum age.
    ///   - filters: the rule's filters, whose values placeholders can use.
    init(
        _ node: YamlNode?, _ places: OrganizePlaces, of subject: RuleSubject, mayDelete: Bool, filters: Set<String>
    ) throws(OrganizeLoss) {
        (self.places, self.subject, self.mayDelete, self.filters) = (places, subject, mayDelete, filters)
        for item in node?.organizeItems ?? [] {
            let (name, value, position) = try OrganizeRule.named(item, "an action")
            try add(name, value, position)
        }
    }

    private mutating func note(_ position: SourcePosition, _ message: String) {
        notes.append(OrganizeImport.Note(line: position.line, message: message))
    }

    private mutating func lose(_ position: SourcePosition, _ message: String) {
        losses.append(OrganizeImport.Note(line: position.line, message: message))
    }

    private mutating func add(
        _ name: String, _ value: YamlNode?, _ position: SourcePosition
    ) throws(OrganizeLoss) {
        let what = "the action `\(printable(name))`"
        if name == "echo" {
            note(position, "`echo` is omitted: `steward log` shows what was done, `steward rules try` what would be")
            return
        }
        if goesOnWithCopy {
            lose(position, "steps after `copy` apply to the copy in organize, and to the file itself here")
            goesOnWithCopy = false
        }
        guard subject == .files || Self.ofFolders.contains(name) else {
            return lose(position, "\(what) cannot be imported for folders")
        }
        switch name {
        case "move", "copy", "symlink", "hardlink": try place(name, value, position)
        case "rename":
            let (text, exists) = try OrganizeKeys.read(value, what, bare: "new_name") { keys throws(OrganizeLoss) in
                (try keys.text("new_name"), try conflict(&keys, position))
            }
            guard let text, let name = template(text, position) else { return }
            steps.append("rename: { name: \(YamlText.scalar(name))\(exists) }")
        case "trash":
            try OrganizeKeys.read(value, what) { _ in }
            steps.append("trash")
        case "delete":
            try OrganizeKeys.read(value, what) { _ in }
            if subject == .folders {
                note(position, "`delete` is for files; this puts the folder into the trash")
                steps.append("trash")
            } else if mayDelete {
                steps.append("delete")
            } else {
                note(
                    position,
                    "`delete` requires a minimum age, or `confirm`; this puts the file into the trash")
                steps.append("trash")
            }
        case "confirm":
            let said = try OrganizeKeys.read(value, what, bare: "msg") { keys throws(OrganizeLoss) in
                _ = try keys.boolean("default", default: true)
                return try keys.text("msg") ?? "Continue?"
            }
            guard let text = template(said, position) else { return }
            note(
                position,
                "`confirm` asks when a file arrives: `steward confirm` shows the question and accepts the answer"
            )
            steps.append("confirm: { text: \(YamlText.scalar(text)) }")
            mayDelete = true
        case "macos_tags":
            let texts = try OrganizeKeys.read(value, what, bare: "tags") { keys throws(OrganizeLoss) in
                try keys.take("tags")?.organizeTexts(what) ?? []
            }
            if texts.isEmpty || texts.contains(where: { $0.contains("(") }) {
                lose(position, "\(what) is dropped: tags have no colours here")
            }
            let tags = texts.compactMap { template($0, position) }
            if !tags.isEmpty { steps.append("tag: { add: [\(tags.map(YamlText.scalar).joined(separator: ", "))] }") }
        case "shell", "python":
            lose(position, "\(what) is dropped: `run` starts a program with a list of arguments, without a shell")
        default: lose(position, "\(what) is dropped: there is no equivalent")
        }
    }

    /// - Returns: nil if a placeholder cannot be converted, which is recorded as a loss.
    private mutating func template(_ text: String, _ position: SourcePosition) -> String? {
        if text.contains("{%") || text.contains("{#") || text.contains("$") {
            lose(position, "`\(printable(text))` is more than text with placeholders")
            return nil
        }
        let (template, missing) = OrganizeText.template(text)
        for name in missing { lose(position, "the placeholder `\(printable(name))` cannot be imported") }
        for name in OrganizeText.filters(in: text) where !filters.contains(name) {
            lose(
                position,
                "without a filter `\(printable(name))` organize does not know the placeholder `{\(printable(name))…}`")
        }
        return missing.isEmpty ? template : nil
    }

    private mutating func place(
        _ action: String, _ value: YamlNode?, _ position: SourcePosition
    ) throws(OrganizeLoss) {
        let what = "the action `\(action)`"
        let (written, autodetects, exists) = try OrganizeKeys.read(value, what, bare: "dest") {
            keys throws(OrganizeLoss) in
            if action == "copy" { goesOnWithCopy = try keys.choice("continue_with", ["copy", "original"]) == "copy" }
            return (
                try keys.text("dest"), try keys.boolean("autodetect_folder", default: true),
                try conflict(&keys, position)
            )
        }
        guard let written else { throw OrganizeLoss(position, "\(what) has no `dest`") }
        guard let dest = template(written, position) else { return }
        // organize's rule: a path that ends with a slash or has no extension is a folder.
        let parts = Self.parts(dest)
        let last = parts.last ?? ""
        let hasEnding = last.contains("file.path") || last.contains("file.name") || Self.literal(last).contains(".")
        let isFolder = last.isEmpty || autodetects && !hasEnding
        var folders = isFolder ? parts : Array(parts.dropLast())
        var name = isFolder ? nil : last
        if name == "{{ file.path }}" {
            folders.append("{{ file.folder }}")
            name = nil
        }
        // A place must be a folder with a constant path.
        let fixed = folders.prefix { !$0.contains("{{") }
        let root = fixed.count == 1 && fixed[0].isEmpty ? "/" : fixed.joined(separator: "/")
        guard OrganizePlaces.isPlain(root) else {
            return lose(position, "\(what) goes to a folder that is not a literal path beginning with `/` or `~/`")
        }
        let (place, below) = places.locate(root)
        let folder = ([below] + folders.dropFirst(fixed.count)).filter { !$0.isEmpty }.joined(separator: "/")
        var arguments = "place: \(YamlText.scalar(place))"
        if !folder.isEmpty { arguments += ", folder: \(YamlText.scalar(folder))" }
        if let name { arguments += ", name: \(YamlText.scalar(name))" }
        let step =
            switch action {
            case "symlink": "link: { "
            case "hardlink": "link: { kind: hard, "
            default: "\(action): { "
            }
        steps.append("\(step)\(arguments)\(exists) }")
    }

    /// Splits at slashes, except for those inside placeholders.
    private static func parts(_ template: String) -> [String] {
        var parts = [""]
        var depth = 0
        for character in template {
            if character == "{" { depth += 1 }
            if character == "}" { depth -= 1 }
            if character == "/", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        return parts
    }

    /// The text without its placeholders.
    private static func literal(_ template: String) -> String {
        template.replacing(/\{\{.*?\}\}/, with: "")
    }

    /// organize's default name for a file whose name is taken.
    private static let usualName = "{name} {counter}{extension}"

    /// What to do if the name is taken.
    private mutating func conflict(
        _ keys: inout OrganizeKeys, _ position: SourcePosition
    ) throws(OrganizeLoss) -> String {
        let modes = ["rename_new", "skip", "overwrite", "trash", "deduplicate", "rename_existing"]
        let mode = try keys.choice("on_conflict", modes)
        let name = try keys.text("rename_template") ?? Self.usualName
        if name != Self.usualName, ["rename_new", "deduplicate", "rename_existing"].contains(mode) {
            lose(position, "`rename_template` is dropped: the next free name is `name (1).ext`")
        }
        switch mode {
        case "skip": return ", exists: skip"
        case "overwrite", "trash":
            note(position, "replaced files go into the trash")
            return ", exists: replace"
        case "deduplicate": return ", exists: same"
        case "rename_existing":
            lose(position, "`rename_existing` is dropped: the new file gets another name")
            return ""
        default: return ""
        }
    }
}
