import AgentKit
import ArgumentParser

/// `steward dots show`
struct DotsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "List the captures of a day, an hour, a week, a month or a year, newest first.",
        discussion: """
            A range of time is written 2026-11-22, 2026-11-22T15, 2026-W47, 2026-11 or 2026; words for the present are \
            today, yesterday, hour, week, month and year.

            Each line ends with the beginning of the capture's id. `steward dots show ID` shows that one whole, with \
            where its files are.
            """)

    @OptionGroup var options: DotsOptions

    @Argument(help: "The range of time (default: today), or a capture's id.")
    var bucket = "today"

    @Option(name: .long, help: "The maximum number (default: all).")
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
