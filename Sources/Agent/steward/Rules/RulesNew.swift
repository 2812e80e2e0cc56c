import AgentKit
import ArgumentParser
import Foundation
import Glibc
import Platform
import Rules

/// `steward rules new`
struct RulesNew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Ask what a rule should do, show which files it would match, and write it.",
        discussion: """
            Options replace questions. Answers are read line by line, also from a pipe. Nothing is \
            written before a yes, and no file is ever replaced.
            """)

    @OptionGroup var options: CommonOptions

    @Option(name: .long, help: "The place of the rule.")
    var place: String?

    @Option(
        name: .customLong("where"), parsing: .singleValue,
        help:
            "Which files: endings (pdf jpg), a name with * (invoice*), a kind (image), a size (> 10 MB), an age (> 30d)."
    )
    var conditions: [String] = []

    @Option(
        name: .customLong("do"), parsing: .singleValue,
        help: "A step: move PLACE/FOLDER, copy PLACE/FOLDER, rename NAME, tag WORD, note TEXT, trash.")
    var steps: [String] = []

    @Option(name: .long, help: "The rule's name.")
    var name: String?

    @Flag(name: .long, help: "Write it without asking.")
    var yes = false

    struct Report: Encodable {
        let rule: String
        let text: String
        let file: BytePath
        let written: Bool
        let survey: RuleSurvey
    }

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let configuration = try options.configuration(directories)
            let core = try AgentCore.forPlanning(configuration, directories)
            let draft = try draft(core)
            let others = core.loadRules().rules
            let (rule, diagnostics) = draft.check(core, among: others)
            if !options.json { Output.document("\n\(draft.text)\n") }
            guard let rule, !diagnostics.hasErrors else {
                for diagnostic in diagnostics { Output.complain("\(diagnostic)") }
                throw ExitCode(2)
            }
            guard let folder = directories.rules.last else { throw Fault(.usage, "there is no folder for rules") }
            let survey = try RuleSurvey(rule, core)
            let target = try draft.target(in: folder)
            if !options.json { Output.lines(survey.lines) }
            let isWanted = yes || Consent.ask("Write it to \(target)?")
            if isWanted { try draft.write(to: target) }
            let report = Report(
                rule: draft.name, text: draft.text, file: target, written: isWanted, survey: survey)
            try Output.show(
                report,
                lines: isWanted
                    ? [
                        "Wrote \(target).",
                        "A running agent uses it at once. `steward rules try FILE` shows what it would do.",
                    ] : ["Nothing was written."], json: options.json)
        }
    }

    // MARK: Questions

    private func draft(_ core: AgentCore) throws -> RuleDraft {
        let places = core.places.places.map(\.name)
        let place = try place.map { try Self.known($0, places) } ?? askPlace(core)
        var wheres = try conditions.map(RulePhrases.condition)
        if conditions.isEmpty && steps.isEmpty {
            wheres =
                try ask(
                    """
                    Which files? Endings (pdf jpg), a name with a star (invoice*), a kind (image), a size (> 10 MB), an age \
                    (> 30d). Several with `;` between them; nothing for all.
                    """, allowsNone: true
                ) { try $0.split(separator: ";").map { try RulePhrases.condition(String($0)) } } ?? []
        }
        let actions = core.registry.names
        var dos = try steps.map { try RulePhrases.step($0, places: places, actions: actions) }
        if steps.isEmpty {
            dos =
                try ask(
                    """
                    What should be done? move PLACE/FOLDER, copy PLACE/FOLDER, rename NAME, tag WORD, note TEXT, trash. \
                    Several with `;` between them.
                    """
                ) { answer in
                    try answer.split(separator: ";").map {
                        try RulePhrases.step(String($0), places: places, actions: actions)
                    }
                } ?? []
        }
        let suggested = RuleDraft.name(for: wheres, dos, in: place)
        var called = name
        if called == nil, !yes {
            called = try ask("Name of the rule? (\(suggested))", allowsNone: true) { $0 }
        }
        return RuleDraft(name: called ?? suggested, place: place, conditions: wheres, steps: dos)
    }

    private func askPlace(_ core: AgentCore) throws -> String {
        let places = core.places.places
        let list = places.map { "  \($0.name)  (\($0.root))" }.joined(separator: "\n")
        return try ask(
            """
            Which place is it for?
            \(list)
            To use another folder, add a line under `places:` in steward.yaml.
            """
        ) { try Self.known($0, places.map(\.name)) } ?? ""
    }

    private static func known(_ name: String, _ places: [String]) throws -> String {
        if places.contains(name) { return name }
        let hint = Suggest.closest(to: name, among: places).map { "; did you mean `\($0)`?" } ?? ""
        guard name.contains("/") else { throw Fault(.usage, "there is no place \"\(name)\"\(hint)") }
        let last = BytePath(name).nameText.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        throw Fault(
            .usage,
            "\(name) is not a place yet; add this line under `places:` in steward.yaml, restart the agent, and start again: "
                + "`\(last.isEmpty ? "folder" : last): { kind: folder, path: \(name) }`")
    }

    /// Repeats the question until the answer is valid; in a pipe, the first answer counts.
    ///
    /// - Returns: nil for no answer, if that is allowed.
    private func ask<T>(_ question: String, allowsNone: Bool = false, _ read: (String) throws -> T) throws -> T? {
        while true {
            Output.ask("\(question)\n> ")
            guard let answer = readLine()?.trimmingCharacters(in: .whitespaces) else {
                throw Fault(.usage, "there was no answer, so nothing was written")
            }
            if answer.isEmpty {
                if allowsNone { return nil }
                continue
            }
            do {
                return try read(answer)
            } catch let fault as Fault where isatty(STDIN_FILENO) == 1 {
                Output.ask("\(fault.message)\n")
            }
        }
    }
}
