import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward dots import`
struct DotsImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import the captures from a folder written by `dots export`.",
        discussion: """
            Existing captures are left alone, so a second import changes nothing. A line that cannot be imported is reported, \
            the others are imported; the command then exits with 2.
            """)

    @OptionGroup var options: DotsOptions
    @Argument(help: "The folder.", completion: .directory) var folder: PathArgument

    func run() async throws {
        try await options.with { dots in
            let report = try await dots.importCaptures(from: folder.located)
            try Output.show(report, lines: report.lines, json: options.json)
            if !report.isWhole { throw ExitCode(2) }
        }
    }
}
