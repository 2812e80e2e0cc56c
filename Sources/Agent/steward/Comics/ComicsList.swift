import AgentKit
import ArgumentParser
import ComicArchive
import Platform
import TKCommands

/// `steward comics list`
struct ComicsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show a library's comics and their reading progress.",
        discussion: """
            Comics are identified by content: a renamed or moved one keeps its progress. A folder of \
            pictures counts as one comic.
            """)

    enum Order: String, ExpressibleByArgument, CaseIterable {
        case name, modified, size

        var order: ComicFile.Order {
            switch self {
            case .name: .name
            case .modified: .modified
            case .size: .size
            }
        }
    }

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The folder (default: the configured library, else this folder).", completion: .directory)
    var folder: PathArgument?

    @Option(name: .long, help: "By name, by date (newest first) or by size (largest first).")
    var sort = Order.name

    @Flag(name: .long, help: "Group the comics of a series, in reading order.")
    var series = false

    @Flag(name: .long, help: "Only recently read comics, newest first.")
    var recent = false

    @Option(name: .long, help: "With --recent: the maximum number of comics.")
    var limit = 20

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more") }
        if recent && series { throw ValidationError("--recent has its own order; omit --series") }
    }

    func run() async throws {
        try await options.with(folder) { operations, zone in
            let listing = try await operations.list(
                by: sort.order, recent: recent ? limit : nil, bySeries: series, options.meter)
            var lines = listing.lines(width: ComicsOptions.width, zone: zone)
            if recent && listing.comics.isEmpty { lines = ["nothing in \(listing.library) was read yet"] }
            try Output.show(listing, lines: lines, json: options.json)
        }
    }
}
