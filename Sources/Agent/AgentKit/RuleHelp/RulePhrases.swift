import Foundation
import Platform
import Rules

/// Parses answers to the questions of `steward rules new` into lines of a rule.
package enum RulePhrases {
    /// A line of `where`: endings (`pdf jpg`), a name with `*` (`invoice*`), a kind (`image`), a size (`> 10 MB`), an
    /// age (`> 30d`), or a condition in rule syntax (`text: { contains: invoice }`).
    ///
    /// - Throws: `Fault(.usage)` with the valid forms.
    package static func condition(_ answer: String) throws -> String {
        let text = answer.trimmingCharacters(in: .whitespaces)
        if let key = text.split(separator: ":", maxSplits: 1).first, key.count < text.count,
            ConditionSpec.keys.contains(String(key))
        {
            return text
        }
        if let first = text.first, "<>=".contains(first) { return try comparison(text) }
        if kinds.contains(text.lowercased()) { return "kind: \(text.lowercased())" }
        let words = text.split { " ,".contains($0) }.map(String.init)
        if text.contains(where: { "*?[{".contains($0) }) { return "name: \(YamlText.scalar(text))" }
        let endings = words.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
        if !endings.isEmpty, endings.allSatisfy({ $0.count <= 10 && $0.allSatisfy { $0.isLetter || $0.isNumber } }) {
            return "extension: \(YamlText.list(endings))"
        }
        throw Fault(
            .usage,
            "\"\(text)\" does not describe files; use endings (`pdf jpg`), a name with a star (`invoice*`), a kind "
                + "(\(kinds.joined(separator: ", "))), a size (`> 10 MB`), an age (`> 30d`) or a condition "
                + "(`text: { contains: invoice }`)")
    }

    /// Values of `kind` that are unlikely to be meant as an extension.
    private static let kinds = ["note", "text", "link", "image", "comic", "archive"]

    private static func comparison(_ text: String) throws -> String {
        let bound = text.drop { "<>= ".contains($0) }
        if Quantity.seconds(String(bound)) != nil { return "age: \(YamlText.scalar(text))" }
        if Quantity.bytes(String(bound)) != nil { return "size: \(YamlText.scalar(text))" }
        throw Fault(.usage, "\"\(text)\" is neither a size (`> 10 MB`) nor an age (`> 30d`)")
    }

    /// A step: `move PLACE/FOLDER`, `copy PLACE/FOLDER`, `rename NAME`, `tag WORDS`, `trash`, `note TEXT`, or a step in
    /// rule syntax.
    ///
    /// - Throws: `Fault(.usage)` with the valid forms.
    package static func step(_ answer: String, places: [String], actions: [String]) throws -> String {
        let text = answer.trimmingCharacters(in: .whitespaces)
        let name = String(text.prefix { $0 != " " && $0 != ":" })
        let rest = text.dropFirst(name.count)
        if rest.hasPrefix(":"), actions.contains(name) { return text }
        let said = rest.trimmingCharacters(in: .whitespaces)
        switch (name.lowercased(), said.isEmpty) {
        case ("trash", true): return "trash"
        case ("move", false): return "move: \(try destination(said, places))"
        case ("copy", false): return "copy: \(try destination(said, places))"
        case ("rename", false): return "rename: { name: \(YamlText.scalar(without("to ", said))) }"
        case ("tag", false):
            let tags = said.split { " ,".contains($0) }.map(String.init)
            return "tag: { add: [\(tags.map(YamlText.scalar).joined(separator: ", "))] }"
        case ("note", false): return "append-block: { text: \(YamlText.scalar(said)) }"
        default:
            if actions.contains(name), said.isEmpty { return name }
            throw Fault(
                .usage,
                "\"\(text)\" does not describe a step; use `move PLACE/FOLDER`, `copy PLACE/FOLDER`, `rename NAME`, `tag WORD`, "
                    + "`note TEXT`, `trash`, or a step as in a rule (`append-block: { text: … }`)")
        }
    }

    private static func without(_ prefix: String, _ text: String) -> String {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }

    /// `archive/2026`: the first part is a place; otherwise it is a folder in the file's own place.
    private static func destination(_ said: String, _ places: [String]) throws -> String {
        let text = without("to ", said)
        let first = String(text.prefix { $0 != "/" })
        let rest = text.dropFirst(first.count).drop { $0 == "/" }
        guard places.contains(first) else {
            guard text.hasPrefix("./") else {
                throw Fault(
                    .usage,
                    "there is no place \"\(first)\" (\(places.joined(separator: ", "))); write `./\(text)` for a folder "
                        + "of the file's own place")
            }
            return "{ folder: \(YamlText.scalar(String(text.dropFirst(2)))) }"
        }
        let folder = rest.isEmpty ? "" : ", folder: \(YamlText.scalar(String(rest)))"
        return "{ place: \(YamlText.scalar(first))\(folder) }"
    }
}
