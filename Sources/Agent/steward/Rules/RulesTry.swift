import AgentKit
import ArgumentParser
import Platform
import Rules
import TKCommands

/// `steward rules try`
struct RulesTry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Show where files would lie after the rules, as a tree, without doing anything.",
        discussion: """
            Files of a place are taken as they lie; for others --in, or --rule, says which place they are taken for. A \
            file is followed into the places that it would come into. Nothing is written anywhere.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "Files, or folders with examples.", completion: .file())
    var files: [PathArgument]

    @Option(name: .customLong("in"), help: "The place that files outside all places are taken for.")
    var place: String?

    @Option(name: .long, help: "Ask this rule alone, and say why it does not take a file.")
    var rule: String?

    @Option(name: .long, help: "The rules of this folder, instead of those in force.", completion: .directory)
    var rules: PathArgument?

    func run() async throws {
        try await Output.guarding {
            var directories = try options.directories()
            let configuration = try options.configuration(directories)
            if let rules { directories.rules = [rules.path] }
            let request = RuleTrial.Request(paths: files.map(\.path), place: place, rule: rule)
            let trial = try await RuleTrial.of(request, configuration, directories)
            try Output.show(trial, lines: trial.lines, json: options.json)
            if trial.diagnostics.hasErrors { throw ExitCode(2) }
        }
    }
}
