import AgentKit
import ArgumentParser
import ComicArchive
import CommandArguments
import Foundation
import JSONText
import Platform

/// `steward comics inspect`
struct ComicsInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Say whether comics are sound: verdict, pages, metadata, why refused.",
        discussion: """
            Reads every byte of each archive, and changes nothing. One file is shown whole, of several one line each \
            (--details shows them whole); a folder stands for all comics in it and below.

            Ends with 0 where all are accepted, with 2 where one is refused, with 1 where one could not be read.
            """)

    @OptionGroup var options: ComicsOptions

    @Argument(help: "Files or folders.", completion: .file())
    var files: [PathArgument]

    @Flag(name: .long, help: "Accept archives with damaged pages, and name the damage.")
    var lenient = false

    @Flag(name: .long, help: "Compute the SHA-256 of each page.")
    var hashes = false

    @Flag(name: .long, help: "Decode each pixel of each page: thorough, and slow.")
    var decode = false

    @Flag(name: .long, help: "Show metadata and pages of each of several files.")
    var details = false

    func run() async throws {
        try await ComicsOptions.guarding {
            let operations = try options.plainOperations()
            let meter = options.meter
            let found = try await operations.comics(among: files.map { options.path($0) })
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

/// `steward comics list`
struct ComicsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show a library's comics, and how far each has been read.",
        discussion: """
            Comics are known by their content: one that was renamed or moved keeps its progress. A folder of \
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

    @Flag(name: .long, help: "Only what was read lately, newest first.")
    var recent = false

    @Option(name: .long, help: "With --recent: at most so many.")
    var limit = 20

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more") }
        if recent && series { throw ValidationError("--recent has an order of its own; leave --series out") }
    }

    func run() async throws {
        try await ComicsOptions.guarding {
            let (operations, zone) = try options.operations(folder)
            let listing = try await operations.list(
                by: sort.order, recent: recent ? limit : nil, bySeries: series, options.meter)
            var lines = listing.lines(width: ComicsOptions.width, zone: zone)
            if recent && listing.comics.isEmpty { lines = ["nothing in \(listing.library) was read yet"] }
            try Output.show(listing, lines: lines, json: options.json)
            try await operations.close()
        }
    }
}

/// `steward comics show`
struct ComicsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one comic: metadata, pages, cover, progress, bookmarks.",
        discussion: "Damaged pages are named, and the others shown. Ends with 2 where the comic is refused.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    func run() async throws {
        try await ComicsOptions.guarding {
            let (operations, zone) = try options.operations()
            let details = try await operations.details(options.path(file), options.meter)
            let lines = details.lines(width: ComicsOptions.width, zone: zone, from: ComicsOptions.here)
            try Output.show(details, lines: lines, json: options.json)
            try await operations.close()
            if details.isRefused { throw ExitCode(2) }
        }
    }
}

/// `steward comics type`
struct ComicsType: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type", abstract: "Say what files are: by their first bytes, then by their names.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The files.", completion: .file())
    var files: [PathArgument]

    func run() async throws {
        try await ComicsOptions.guarding {
            let operations = try options.plainOperations()
            var typed: [ComicTyped] = []
            for file in files { typed.append(try await operations.typed(options.path(file))) }
            try Output.show(typed, lines: typed.map(\.line), json: options.json)
        }
    }
}
