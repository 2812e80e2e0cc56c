import AgentKit
import ArgumentParser
import ComicArchive
import JSONText
import Platform
import TKCommands

/// `steward comics inspect`
struct ComicsInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Check comics: verdict, pages, metadata, reason of a refusal.",
        discussion: """
            Reads every byte of each archive, and changes nothing. One file is shown whole, of several one line each \
            (--details shows them whole); a folder stands for all comics in it and below.

            Ends with 0 where all are accepted, with 2 where one is refused, with 1 where one could not be read.
            """)

    @OptionGroup var options: ComicsOptions

    @Argument(help: "Files or folders.", completion: .file())
    var files: [PathArgument]

    @Flag(name: .long, help: "Accept archives with damaged pages, and report the damage.")
    var lenient = false

    @Flag(name: .long, help: "Compute the SHA-256 of each page.")
    var hashes = false

    @Flag(name: .long, help: "Decode every page completely: thorough, but slow.")
    var decode = false

    @Flag(name: .long, help: "Show metadata and pages of every file.")
    var details = false

    func run() async throws {
        try await ComicsOptions.guarding {
            let operations = try options.plainOperations()
            let meter = options.meter
            let found = try await operations.comics(among: files.map(\.located))
            let isFull = details || found.count == 1
            var (accepted, refused, unread) = (0, 0, 0)
            if options.json { Output.json("[") }
            let pages: PageExamination = decode ? .decode : .headers
            try await operations.inspect(
                found, mode: lenient ? .lenient : .strict, hashes: hashes, pages: pages, meter
            ) { comic in
                let isFirst = accepted + refused + unread == 0
                if comic.isAccepted { accepted += 1 } else if comic.isUnread { unread += 1 } else { refused += 1 }
                if options.json {
                    Output.json((isFirst ? "" : ",\n") + (try JSONText.shown(comic)), terminator: "")
                } else {
                    if !isFirst && isFull { Output.line("") }
                    Output.lines(comic.lines(isFull: isFull, width: ComicsOptions.width, from: ComicsOptions.here))
                }
            }
            if options.json {
                Output.json("\n]")
            } else if found.count > 1 {
                let rest = unread > 0 ? ", \(unread) not read" : ""
                Output.lines(["", "\(found.count) files: \(accepted) accepted, \(refused) refused\(rest)"])
            }
            if unread > 0 { throw ExitCode(1) }
            if refused > 0 { throw ExitCode(2) }
        }
    }
}
