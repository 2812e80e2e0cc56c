import AgentKit
import ArgumentParser
import JSONText
import Platform
import TKCommands

/// `steward demo`
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the agent at work in a temporary home: real files dropped in, and what became of each.")

    @Flag(name: .long, help: "Keep the folder afterwards, and print its path.")
    var keep = false

    @Option(name: .long, help: "The folder with the shipped rules.", completion: .directory)
    var rules: PathArgument?

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Output.guarding {
            try await Demonstration(rules: rules?.path, keeps: keep).run {
                if !json { Output.document($0 + "\n") }
            } finish: { report in
                if json { Output.json(try JSONText.shown(report)) }
            }
        }
    }
}
