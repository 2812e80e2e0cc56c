import ArgumentParser
import Foundation
import OwnFiles
import Platform
import TKCore

struct Search: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Search the words of drafts, their titles and their projects' names.",
        discussion: """
            All words must occur; the last one may be a prefix. "two words" must be adjacent, -word must not occur, \
            title:word and project:word look only there. The folder is read first, as far as it has changed.
            """)

    @Argument(help: "The words to search for.")
    var query: [String]

    @Option(
        name: [.customLong("in"), .customShort("i")],
        help: ArgumentHelp("The folder with the drafts; by default this one.", valueName: "folder"),
        completion: .directory)
    var folder: PathArgument?

    @Flag(name: .long, help: "Search all folders that were searched before, without reading them again.")
    var everywhere = false

    @Option(name: .shortAndLong, help: ArgumentHelp("The maximum number of results.", valueName: "count"))
    var limit: Int = 20

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only paths.")
    var quiet = false

    func validate() throws {
        if json, quiet { throw ValidationError("give either --json or --quiet, not both") }
        if everywhere, folder != nil { throw ValidationError("give either --in or --everywhere, not both") }
        guard (1...1000).contains(limit) else { throw ValidationError("--limit is a number from 1 to 1000") }
    }

    func run() async throws {
        try await Terminal.guarding {
            let text = query.joined(separator: " ")
            let search = SearchQuery(text)
            guard !search.isEmpty else { throw Fault(.usage, "there is no word to look for in \"\(text)\"") }
            let home = try TKHome(environment: Terminal.environment)
            try home.make()
            let opened = try await DraftIndex.open(home.search)
            for notice in opened.notices { Terminal.note("tk: warning: \(notice)") }
            let place = everywhere ? nil : (folder ?? PathArgument(".")).standardized
            if let place {
                guard try FileStatus.of(place)?.kind == .directory else {
                    throw Fault(.usage, "\(place) is not a folder; name one with --in", path: place)
                }
                for problem in try await opened.index.update(folder: place).problems {
                    Terminal.note("tk: warning: \(problem)")
                }
            }
            let hits = try await opened.index.search(search, in: place, limit: limit)
            try await opened.index.close()
            if json {
                Terminal.write(SearchOutput.json(hits, query: text))
            } else if quiet {
                for hit in hits { Terminal.line(hit.path.description) }
            } else {
                Terminal.write(SearchOutput.text(hits, below: place, Terminal.style))
            }
        }
    }
}
