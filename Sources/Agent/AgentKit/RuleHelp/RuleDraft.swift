import Foundation
import OwnFiles
import Platform
import Rules

/// A rule being drafted: `steward rules new` shows it and writes it once confirmed.
package struct RuleDraft: Sendable {
    package var name: String
    package var place: String
    /// Lines of `where`, from ``RulePhrases/condition(_:)``.
    package var conditions: [String]
    /// Entries of `do`, from ``RulePhrases/step(_:places:actions:)``.
    package var steps: [String]

    package init(name: String, place: String, conditions: [String], steps: [String]) {
        (self.name, self.place, self.conditions, self.steps) = (name, place, conditions, steps)
    }

    /// Points editors to the schema of rule files that Steward installs.
    package static let schemaLine = "# yaml-language-server: $schema=/usr/share/steward/rules.schema.json"

    /// A default name, derived from what the rule does.
    package static func name(for conditions: [String], _ steps: [String], in place: String) -> String {
        let verb = steps.first.map { String($0.prefix { $0 != ":" }) } ?? "Look after"
        let what =
            conditions.first.map { $0.drop { $0 != ":" }.dropFirst().filter { !"\"[]{}".contains($0) } } ?? " files"
        return "\(verb.prefix(1).uppercased())\(verb.dropFirst())\(what) in \(place)".replacingOccurrences(
            of: "  ", with: " ")
    }

    /// The file's text.
    package var text: String {
        var lines = [Self.schemaLine, "", "- rule: \(YamlText.scalar(name))", "  in: \(YamlText.scalar(place))"]
        if conditions.count == 1 || Set(conditions.map(Self.key)).count == conditions.count {
            if !conditions.isEmpty { lines += ["  where:"] + conditions.map { "    \($0)" } }
        } else {
            lines += ["  where:", "    all:"] + conditions.map { "      - \($0)" }
        }
        lines += ["  do:"] + steps.map { "    - \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func key(_ line: String) -> String { String(line.prefix { $0 != ":" }) }

    /// The parsed rule and all its problems, including a name that another rule has.
    package func check(_ core: AgentCore, among others: [Rule]) -> (Rule?, [Diagnostic]) {
        let (rules, found) = core.parse("the new rule", Array(text.utf8))
        if let other = others.first(where: { $0.name == name }) {
            let message = "there is a rule `\(name)` already, at \(other.source)"
            return (nil, found + [Diagnostic(file: "the new rule", at: .start, message, hint: "give it another name")])
        }
        return (rules.first, found)
    }

    /// The path to write to: the first unused number and the rule's name. Blocks.
    package func target(in folder: BytePath) throws -> BytePath {
        let names = try ConfigurationFiles.names(in: folder).map { String(decoding: $0, as: UTF8.self) }
        let taken = Set(names.compactMap { Int($0.prefix { $0.isNumber }) })
        let number = (60...999).first { !taken.contains($0) } ?? 999
        let slug = name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : " " }.joined()
            .split(separator: " ").prefix(6).joined(separator: "-")
        return folder.appending(BytePath("\(number)-\(slug.isEmpty ? "rule" : slug).yaml"))
    }

    /// Writes the file durably, unless it exists. Blocks.
    ///
    /// - Throws: `Fault(.usage)` if the name is taken.
    package func write(to target: BytePath) throws {
        try Durable.makeDirectory(target.parent)
        try Self.write(text, to: target)
    }

    /// Writes a rule file durably, unless it exists. Blocks.
    ///
    /// - Throws: `Fault(.usage)` if the name is taken.
    static func write(_ text: String, to target: BytePath) throws {
        let staged = try Durable.stage(Array(text.utf8), for: target, mode: 0o644)
        guard try Durable.renameNew(staged, to: target) else {
            try Durable.remove(staged)
            throw Fault(.usage, "\(target) exists already, and is not replaced", path: target)
        }
    }
}
