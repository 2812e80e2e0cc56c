import Foundation
import Platform
import Rules

/// organize's actions as steps.
struct OrganizeActions {
    private(set) var places: OrganizePlaces
    private(set) var steps: [String] = []
    private(set) var notes: [OrganizeImport.Note] = []

    /// Whether organize's next action would be about the copy.
    private var goesOnWithCopy = false
    /// Whether somebody is asked, or the file is of some age, before what cannot be taken back.
    private var mayDelete: Bool

    private let subject: RuleSubject
    /// Those that take whole folders.
    private static let ofFolders: Set = ["move", "rename", "trash", "delete", "confirm", "echo"]

    init(_ places: OrganizePlaces, of subject: RuleSubject, mayDelete: Bool) {
        self.places = places
        self.subject = subject
        self.mayDelete = mayDelete
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

    private mutating func note(_ position: SourcePosition, _ message: String) {
        notes.append(OrganizeImport.Note(line: position.line, message: message))
    }

    private mutating func add(_ name: String, _ value: YamlNode?, _ position: SourcePosition) {
        if goesOnWithCopy, name != "echo" {
            note(position, "what follows `copy` is done to the copy there, and to the file itself here")
            goesOnWithCopy = false
        }
        if name == "copy" { goesOnWithCopy = option("continue_with", value) != "original" }
        guard subject == .files || Self.ofFolders.contains(name) else { return leaveOut(name, position) }
        switch name {
        case "move", "copy": place(name, value, position)
        case "rename":
            let said = value?.scalar ?? option("new_name", value)
            guard let text = said, let name = template(text, position) else { return leaveOut(name, position) }
            steps.append("rename: { name: \(YamlText.scalar(name))\(exists(value, position)) }")
        case "trash": steps.append("trash")
        case "delete":
            if subject == .folders {
                note(position, "`delete` is for files; this puts the folder into the trash")
                steps.append("trash")
            } else if mayDelete {
                steps.append("delete")
            } else {
                note(
                    position,
                    "`delete` is for files of some age, or after `confirm`; this puts the file into the trash")
                steps.append("trash")
            }
        case "confirm":
            let said = value?.scalar ?? value.flatMap { OrganizeRule.option("msg", $0) } ?? "Continue?"
            guard let text = template(said, position) else { return leaveOut(name, position) }
            note(
                position, "`confirm` asks when a file comes: `steward confirm` shows what is asked and takes the answer"
            )
            steps.append("confirm: { text: \(YamlText.scalar(text)) }")
            mayDelete = true
        case "symlink", "hardlink": place(name, value, position)
        case "macos_tags":
            let texts = value.map { OrganizeRule.flat($0).compactMap(\.scalar) } ?? []
            let tags = texts.compactMap {
                template(String($0.prefix { $0 != "(" }).trimmingCharacters(in: .whitespaces), position)
            }
            guard !tags.isEmpty, tags.count == texts.count else { return leaveOut(name, position) }
            steps.append("tag: { add: [\(tags.map(YamlText.scalar).joined(separator: ", "))] }")
        case "echo":
            note(position, "`echo` is left out: `steward log` says what was done, `steward rules try` what would be")
        case "shell", "python":
            note(position, "`\(name)` is left out: `run` starts a program with a list of arguments, without a shell")
        default: leaveOut(name, position)
        }
    }

    private mutating func leaveOut(_ name: String, _ position: SourcePosition) {
        note(position, "the action `\(printable(name))` cannot be carried over, and is left out")
    }

    /// - Returns: nil where a placeholder cannot be carried over, which is noted.
    private mutating func template(_ text: String, _ position: SourcePosition) -> String? {
        let (template, missing) = OrganizeText.template(text)
        for name in missing { note(position, "the placeholder `\(printable(name))` cannot be carried over") }
        return missing.isEmpty ? template : nil
    }

    private func option(_ key: String, _ value: YamlNode?) -> String? {
        value.flatMap { OrganizeRule.option(key, $0) }
    }

    private mutating func place(_ action: String, _ value: YamlNode?, _ position: SourcePosition) {
        guard let written = value?.scalar ?? option("dest", value), let dest = template(written, position) else {
            return leaveOut(action, position)
        }
        // As organize decides it: what ends with a slash, or has no ending, is a folder.
        let autodetects = option("autodetect_folder", value)?.lowercased() != "false"
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
        // A place is a folder that no value has a share in.
        let fixed = folders.prefix { !$0.contains("{{") }
        let (place, below) = places.locate(fixed.joined(separator: "/"))
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
        steps.append("\(step)\(arguments)\(exists(value, position)) }")
    }

    /// Between its slashes; those within a value part nothing.
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

    /// What no value has a share in.
    private static func literal(_ template: String) -> String {
        template.replacing(/\{\{.*?\}\}/, with: "")
    }

    /// What is done where the name is taken.
    private mutating func exists(_ value: YamlNode?, _ position: SourcePosition) -> String {
        if option("rename_template", value) != nil {
            note(position, "`rename_template` is left out: the next free name is `name (1).ext`")
        }
        switch option("on_conflict", value) {
        case "skip": return ", exists: skip"
        case "overwrite", "trash":
            note(position, "what is replaced goes into the trash")
            return ", exists: replace"
        case "deduplicate": return ", exists: same"
        case "rename_existing":
            note(position, "`rename_existing` is left out: it is the new file that gets another name")
            return ""
        default: return ""
        }
    }
}
