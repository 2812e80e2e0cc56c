import AgentKit
import ArgumentParser
import ComicArchive
import Platform
import TKCommands

/// `steward comics show`
struct ComicsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one comic: metadata, pages, cover, progress, bookmarks.",
        discussion: "Damaged pages are reported, and the others shown. Exits with 2 if the comic is refused.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    func run() async throws {
        try await options.with { operations, zone in
            let details = try await operations.details(file.located, options.meter)
            let lines = details.lines(width: ComicsOptions.width, zone: zone, from: ComicsOptions.here)
            try Output.show(details, lines: lines, json: options.json)
            if details.isRefused { throw ExitCode(2) }
        }
    }
}
