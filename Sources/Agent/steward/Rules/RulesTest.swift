import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward rules test`
struct RulesTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Carry out the examples that stand beside rules, each in a throw-away home.",
        discussion: """
            An example is a file and what is to become of it (`examples:`, docs/first-rules.md). Places that the rules \
            name are made for it; nothing outside the throw-away home is touched. Ends with 2 where something is not as \
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
