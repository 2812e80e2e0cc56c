import AgentKit
import ArgumentParser
import Foundation
import Glibc
import JSONText
import Platform

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
        try await options.with { context in
            // A year of four digits is a year; ids are shown with eight.
            if bucket.utf8.count >= 8, DotContext.mayBeID(bucket), (try? context.bucket(bucket)) == nil {
                let capture = try await context.capture(bucket)
                return try Output.show(capture, lines: capture.lines, json: options.json)
            }
            let listing = try await CaptureListing(context.bucket(bucket), limit: limit, context)
            try Output.show(listing, lines: listing.lines(width: ComicsOptions.width), json: options.json)
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
        try await options.with { context in
            let hits = try await CaptureHits(words.joined(separator: " "), limit: limit, context)
            if options.json { return Output.json(try JSONText.shown(hits)) }
            for line in hits.lines(isMarked: DotsOptions.hasColour) { Output.coloured(line + "\n") }
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
        try await options.with { context in
            var captures: [CaptureReport] = []
            for id in ids {
                let capture = try await context.capture(id)
                if !captures.contains(where: { $0.id == capture.id }) { captures.append(capture) }
            }
            if !yes && !options.json { Output.lines(captures.map(\.line)) }
            let what = captures.count == 1 ? "it" : "these \(captures.count) captures"
            try Consent.require(
                "Remove \(what) for good?", yes: yes, json: options.json, otherwise: "nothing was removed")
            try await context.delete(captures, notice: DotsOptions.notice)
            try Output.show(captures, lines: captures.map { "removed the \($0.line)" }, json: options.json)
        }
    }
}
