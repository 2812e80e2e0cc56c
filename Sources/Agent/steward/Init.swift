import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward init`
struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a commented configuration and create the places.",
        discussion: "Existing files are not changed.")

    @OptionGroup var options: CommonOptions

    @Option(name: .long, help: "The folder for the places.")
    var base = PathArgument("~/Steward")

    @Flag(name: .long, help: "Say what would be created, and create nothing.")
    var dryRun = false

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            guard let base = base.text else {
                throw Fault(
                    .usage, "\(base.path) is not UTF-8, as required for the paths of places in steward.yaml",
                    path: base.path)
            }
            let made = try Setup(directories: directories, base: base).carryOut(dryRun: dryRun)
            try Output.show(made, lines: made.lines(dryRun: dryRun), json: options.json)
        }
    }
}
