import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward dots backup`
struct DotsBackup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the whole store into a new folder, while the agent is running.",
        discussion: """
            The folder is a store itself: put in the store's place while nothing runs, it is the store of then. On the same \
            disk the files take no room twice.
            """)

    @OptionGroup var options: DotsOptions
    @Argument(help: "A folder that does not exist yet.", completion: .directory) var folder: PathArgument

    func run() async throws {
        try await options.with { dots in
            let path = folder.located
            let report = try await dots.backUp(to: path)
            try Output.show(report, lines: report.lines(path), json: options.json)
            if !report.isWhole { throw ExitCode(2) }
        }
    }
}
