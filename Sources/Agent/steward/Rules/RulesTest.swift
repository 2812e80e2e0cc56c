import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward rules test`
struct RulesTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the examples of rules, each in a temporary home.",
        discussion: """
            An example is a file and its expected result (`examples:`, docs/first-rules.md). Places that the rules \
            use are created for it; nothing outside the temporary home is touched. Exits with 2 if something is not as \
            expected.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "Rule files (default: those in force).", completion: .file())
    var files: [PathArgument] = []

    @Option(name: .long, help: "Only the examples of this rule.")
    var rule: String?

    @Flag(name: .long, help: "Let steps run programs: for real, as you.")
    var allowPrograms = false

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let configuration = Configuration.load(directories).0
            let report = try await ExampleReport.of(
                files.isEmpty ? nil : files.map(\.path), rule: rule, allowsPrograms: allowPrograms,
                configuration, directories)
            try Output.show(report, lines: report.lines, json: options.json)
            if !report.isGood { throw ExitCode(2) }
        }
    }
}
