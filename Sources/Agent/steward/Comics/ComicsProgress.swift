import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import Platform
import TKCommands

/// `steward comics progress`
struct ComicsProgress: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "progress", abstract: "Show or set the reading progress of a comic.",
        discussion: "A comic is identified by content, so that a renamed or moved one keeps its progress.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    @OptionGroup var mark: ReadingOptions

    func run() async throws {
        try await options.with { operations, zone in
            let change: ComicOperations.ReadingChange? =
                if let page = mark.set { .page(page) } else if mark.done { .done } else if mark.reset { .reset } else {
                    nil
                }
            let state = try await operations.reading(file.located, change, options.meter)
            try Output.show(state, lines: state.lines(zone: zone), json: options.json)
        }
    }
}
