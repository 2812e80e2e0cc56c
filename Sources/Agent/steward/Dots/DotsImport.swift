import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward dots import`
struct DotsImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take in the captures of a folder that `dots export` has written.",
        discussion: """
            What is there already is left alone, so a second import changes nothing. A line that cannot be taken is named, \
            the others are taken; the command then ends with 2.
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
