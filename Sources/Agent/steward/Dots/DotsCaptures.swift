import AgentKit
import ArgumentParser

/// `steward dots show`
struct DotsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "List the captures of a day, an hour, a week, a month or a year, newest first.",
        discussion: """
            A stretch of time is written 2026-11-22, 2026-11-22T15, 2026-W47, 2026-11 or 2026; words for the present are \
            today, yesterday, hour, week, month and year.

            Each line ends with the beginning of the capture's id. `steward dots show ID` shows that one whole, with \
            where its files lie.
            """)

    @OptionGroup var options: DotsOptions

    @Argument(help: "The stretch of time (default: today), or a capture's id.")
    var bucket = "today"

    @Option(name: .long, help: "At most so many (default: all).")
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
    }

    func run() async throws {
        try await options.with { dots in
            if dots.namesCapture(bucket) {
                try await options.carryOut(ShowCapture(bucket), in: dots)
            } else {
                try await options.carryOut(ShowCaptures(bucket, limit: limit), in: dots)
            }
        }
    }
}

/// `steward dots search`
struct DotsSearch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find captures by the words of their text, address or file names, the best first.",
        discussion: "Each word need only be a word's beginning; case and accents do not matter.")

    @OptionGroup var options: DotsOptions

    @Argument(help: "The words; a capture must have all of them.")
    var words: [String]

    @Option(name: .long, help: "At most so many.")
    var limit = 20

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be 1 or more") }
    }

    func run() async throws {
        try await options.with { dots in
            try await options.carryOut(SearchCaptures(words.joined(separator: " "), limit: limit), in: dots)
        }
    }
}

/// `steward dots delete`
struct DotsDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Remove captures from the store, with their files, for good.",
        discussion: """
            Asks first; where nobody can be asked, --yes is needed. What a rule wrote into a note of a capture stays: \
            `steward undo` takes back all that a job did. The ledger remembers such a block for as long as its `history`.
            """)

    @OptionGroup var options: DotsOptions

    @Argument(help: "Ids that `dots show` and `dots search` show, or their beginnings.")
    var ids: [String]

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    func run() async throws {
        try await options.with { dots in
            let captures = try await DeleteCaptures(ids).named(in: dots)
            let display = DotsOptions.display(dots)
            if !yes && !options.json { Output.lines(captures.map { $0.line(on: display) }) }
            let what = captures.count == 1 ? "it" : "these \(captures.count) captures"
            try Consent.require(
                "Remove \(what) for good?", yes: yes, json: options.json, otherwise: "nothing was removed")
            try await options.carryOut(DeleteCaptures(captures.map(\.id)), in: dots)
        }
    }
}
