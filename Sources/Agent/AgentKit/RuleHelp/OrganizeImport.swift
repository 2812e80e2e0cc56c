import Foundation
import OwnFiles
import Platform
import Rules

/// `steward rules import`: converts a configuration of organize (https://organize.readthedocs.io, version 3) to rules
/// of Steward. Anything that cannot be converted is reported with its line and included as a comment. A rule that would
/// do more without it is disabled.
package struct OrganizeImport: Codable, Sendable {
    /// A note about a line of organize's file.
    package struct Note: Codable, Sendable, Equatable {
        package let line: Int
        package let message: String
    }

    /// A folder that the rules need as a place.
    package struct Place: Codable, Sendable, Equatable {
        package let name: String
        /// As written in organize's file.
        package let path: String
        /// Whether it is already configured.
        package let isConfigured: Bool
    }

    /// The rule file.
    package let text: String
    package let notes: [Note]
    package let places: [Place]
    /// The number of rules converted, and the total.
    package let rules: Int
    package let of: Int

    /// - Parameters:
    ///   - known: the configured places, whose names are used.
    ///   - home: the folder for `~`.
    /// - Throws: `Complaints` if the file is not a configuration of organize.
    package init(file: String, bytes: [UInt8], known: [PlaceInfo], home: BytePath) throws {
        // Unicode-normalized as in organize: a letter and its accent become one character.
        let reader = YamlReader(file: file, bytes: bytes.composed)
        guard !reader.diagnostics.hasErrors, let root = reader.root, case .mapping(let entries) = root.content,
            let list = entries.first(where: { $0.key == "rules" })?.value, let rules = reader.sequence(list, "`rules`")
        else {
            let found = reader.diagnostics
            let missing = Diagnostic(
                file: file, at: .start, "this is not an organize configuration: it has no list `rules`")
            throw Complaints(diagnostics: found.isEmpty ? [missing] : found)
        }
        var book = OrganizePlaces(known: known, home: home)
        // Collect all source folders first: a target inside one of them needs no place of its own.
        for rule in rules { for folder in OrganizeRule.folders(of: rule) { book.expect(folder) } }
        let comments = OrganizeComments(reader.source.lines)
        var lines: [String] = [
            RuleDraft.schemaLine, "# Made from organize's \(printable(file)); review it before use.",
        ]
        var notes: [Note] = []
        var count = 0
        var last = 0
        for (number, node) in rules.enumerated() {
            let end = number + 1 < rules.count ? rules[number + 1].position.line : Int.max
            let comment = comments.between(last, end)
            last = end - 1
            var rule = OrganizeRule(node, number: number + 1, comment: comment)
            lines += [""] + rule.lines(&book)
            notes += rule.notes
            if rule.isCarriedOver { count += 1 }
        }
        self.text = lines.joined(separator: "\n") + "\n"
        self.notes = notes.sorted { $0.line < $1.line }
        places = book.used
        self.rules = count
        of = rules.count
    }

    /// For the terminal: what the user must do and know.
    package var advice: [String] {
        let missing = places.filter { !$0.isConfigured }
        var out = notes.map { "line \($0.line): \($0.message)" }
        if !missing.isEmpty {
            out += ["", "Put these lines under `places:` in steward.yaml, and restart the agent:"]
            out += missing.map { "  \($0.name): { kind: folder, path: \(YamlText.scalar($0.path)) }" }
        }
        return out + ["", "\(rules) of \(of) rules were imported."]
    }

    /// Writes the rules durably, unless the file exists. Blocks.
    ///
    /// - Throws: `Fault(.usage)` if the name is taken.
    package func write(to target: BytePath) throws { try RuleDraft.write(text, to: target) }
}

/// The comments of a YAML file, by line.
struct OrganizeComments {
    private let lines: [(number: Int, text: String)]

    init(_ source: [String]) {
        lines = source.enumerated().compactMap { number, line in
            Self.comment(in: line).map { (number + 1, $0) }
        }
    }

    /// The comments strictly between the lines `start` and `end`.
    func between(_ start: Int, _ end: Int) -> [String] {
        lines.filter { $0.number > start && $0.number < end }.map(\.text)
    }

    /// The text after a `#` that begins a comment; inside quotes it does not.
    private static func comment(in line: String) -> String? {
        var quote: Character?
        var previous: Character = " "
        for index in line.indices {
            let character = line[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                if !previous.isLetter && !previous.isNumber { quote = character }
            } else if character == "#", previous.isWhitespace {
                return String(line[line.index(after: index)...].drop { $0 == " " || $0 == "#" })
            }
            previous = character
        }
        return nil
    }
}
