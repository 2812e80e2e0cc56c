import ArgumentParser
import Glibc
import NoteActions
import Platform
import TKCore

struct FindingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "findings", abstract: "Findings of other reviewers: linters, agents, people.",
        subcommands: [FindingsAdd.self])
}

struct FindingsAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add findings from standard input to the review of a draft.",
        discussion: """
            They appear in the draft's sidecar and are answered there; the draft is not changed. \
            Read are reviewdog's rdjson and rdjsonl, SARIF, the JSON of Vale and of LanguageTool, and a copy of the draft \
            with CriticMarkup in it.

            Exit codes: 0 all are in the review, 1 some have no place in the draft, or the report cannot be read.
            """)

    @Argument(help: "The draft.", completion: .file())
    var draft: PathArgument

    @Option(
        name: .long, help: "\(ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")); by default as it looks.",
        completion: Choice.completion(ReportFormat.self), transform: Choice.named)
    var from: ReportFormat?

    @Option(
        name: .long,
        help: ArgumentHelp("Who has made the findings; by default as the report says.", valueName: "name"))
    var author: String?

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    @Flag(name: .long, help: "Only say what would be added.")
    var dryRun = false

    func validate() throws {
        if let author, author.allSatisfy(\.isWhitespace) { throw ValidationError("the author's name is empty") }
    }

    func run() async throws {
        try await Terminal.guarding {
            guard !draft.isStream else { throw ValidationError("name the draft; standard input is the report") }
            guard !Terminal.isTerminal(STDIN_FILENO) else {
                throw ValidationError(
                    "the report is read from standard input: vale --output=JSON FILE | tk findings add FILE")
            }
            let report = try Input.gather(STDIN_FILENO, "the report")
            let outcome = try ReviewIntake.add(to: draft.absolute, author: author, isDryRun: dryRun) { text in
                try ReportFormat.read(report, as: from, about: text)
            }
            if json { Terminal.json(document(outcome)) } else { Terminal.line(summary(outcome)) }
            for unplaced in outcome.unplaced where !unplaced.isElsewhere {
                Terminal.note("tk: not added: \(Self.line(unplaced.finding)): \(unplaced.reason)")
            }
            let elsewhere = outcome.unplaced.filter(\.isElsewhere)
            if !elsewhere.isEmpty {
                let files = Set(elsewhere.compactMap(\.finding.file)).sorted().map { Printable.line($0) }
                Terminal.note(
                    "tk: not added: \(elsewhere.count) about other files (\(files.prefix(5).joined(separator: ", ")))")
            }
            if outcome.unplaced.count > elsewhere.count { throw ExitCode(1) }
        }
    }

    private func summary(_ outcome: ReviewIntake.Outcome) -> String {
        let count = outcome.added.count
        var text = "\(draft.shown): \(count) finding\(count == 1 ? "" : "s") "
        text += dryRun ? "would be added to" : "added to"
        text += " \(outcome.sidecar.nameText)"
        if outcome.known > 0 { text += ", \(outcome.known) known already" }
        return Printable.line(text)
    }

    /// A finding in one line.
    private static func line(_ finding: ReportedFinding) -> String {
        var parts = [finding.author, finding.rule].compactMap { $0 }
        if let place = finding.place { parts.append(place) }
        var text = parts.joined(separator: " ")
        if let quote = finding.quote { text += " “\(short(quote))”" }
        if let replacement = finding.replacement { text += " → “\(short(replacement))”" }
        if !finding.message.isEmpty { text += (text.isEmpty ? "" : ": ") + short(finding.message, 200) }
        return text.isEmpty ? "a finding" : Printable.line(text)
    }

    private static func short(_ text: String, _ most: Int = 60) -> String {
        let line = Printable.line(text)
        return line.count <= most ? line : line.prefix(most - 1) + "…"
    }

    private func document(_ outcome: ReviewIntake.Outcome) -> JSON {
        [
            "version": .string(SuggestionJSON.version), "file": .string(draft.shown),
            "sidecar": .string(outcome.sidecar.description), "dry_run": .bool(dryRun),
            "added": .array(
                outcome.added.map { finding -> JSON in
                    let suggestion = finding.suggestion
                    return [
                        "key": .string(finding.key), "id": .string(suggestion.id),
                        "author": .string(suggestion.advisorID),
                        "also_by": .strings(finding.others.map(\.advisorID)),
                        "line": .integer(suggestion.anchor.line), "range_start": .integer(suggestion.anchor.start),
                        "range_end": .integer(suggestion.anchor.end),
                        "original_text": .string(suggestion.originalText),
                        "suggested_text": .string(suggestion.suggestedText),
                        "has_replacement": .bool(suggestion.hasReplacement),
                        "reasoning": .string(suggestion.reasoning),
                    ]
                }),
            "known": .integer(outcome.known),
            "unplaced": .array(
                outcome.unplaced.map { unplaced -> JSON in
                    let finding = unplaced.finding
                    return [
                        "author": .optional(author ?? finding.author), "rule": .optional(finding.rule),
                        "file": .optional(finding.file), "place": .optional(finding.place),
                        "quote": .optional(finding.quote), "replacement": .optional(finding.replacement),
                        "message": .string(finding.message), "reason": .string(unplaced.reason),
                    ]
                }),
        ]
    }
}
