import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward init`
struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a commented configuration and make the places.",
        discussion: "Nothing that is there already is changed.")

    @OptionGroup var options: CommonOptions

    @Option(name: .long, help: "The folder to make the places in.")
    var base = PathArgument("~/Steward")

    @Flag(name: .long, help: "Say what would be made, and make nothing.")
    var dryRun = false

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            guard let base = base.text else {
                throw Fault(
                    .usage, "\(base.path) is no text in UTF-8, as the paths of places in steward.yaml have to be",
                    path: base.path)
            }
            let made = try Setup(directories: directories, base: base).carryOut(dryRun: dryRun)
            try Output.show(made, lines: made.lines(dryRun: dryRun), json: options.json)
        }
    }
}
