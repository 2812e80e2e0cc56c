import AgentKit
import ArgumentParser
import Platform
import TKCommands

/// `steward dots export`
struct DotsExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write all captures into a new folder: a line of JSON each, and their files.",
        discussion: "Export and import are lossless, except for thumbnails, which are made again.")

    @OptionGroup var options: DotsOptions
    @Argument(help: "A folder that does not exist yet.", completion: .directory) var folder: PathArgument

    func run() async throws {
        try await options.with { dots in
            let path = folder.located
            let report = try await dots.export(to: path)
            try Output.show(report, lines: report.lines(path), json: options.json)
            if !report.isWhole { throw ExitCode(2) }
        }
    }
}
