import AgentKit
import ArgumentParser
import Platform
import Rules
import TKCommands

/// `steward rules try`
struct RulesTry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Show where the rules would put files, as a tree, without doing anything.",
        discussion: """
            Files in a place are used as they are; for others --in, or --rule, gives the place. A \
            file is followed into the places it would reach. Nothing is written.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "Files, or folders with examples.", completion: .file())
    var files: [PathArgument]

    @Option(name: .customLong("in"), help: "The place for files outside all places.")
    var place: String?

    @Option(name: .long, help: "Use only this rule, and say why it does not match a file.")
    var rule: String?

    @Option(name: .long, help: "Use the rules of this folder, instead of those in force.", completion: .directory)
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
