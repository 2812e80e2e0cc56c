import AgentKit
import ArgumentParser
import JSONText
import Ledger
import Platform

/// `steward log`
struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show what was done, newest last.",
        discussion: "With --follow, continues until interrupted.")

    @OptionGroup var options: CommonOptions

    @Option(name: [.short, .long], help: "The maximum number of lines.")
    var lines = 50

    @Option(name: .long, help: "Only this job: its id or a prefix of it.")
    var job: String?

    @Flag(name: [.short, .long], help: "Continue with new entries.")
    var follow = false

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            var last: Int64 = 0
            repeat {
                // Opened each time: a ledger of an older version is read from a copy, which would never change.
                let records = try Records(directories)
                let query = ShowHistory(job: job, limit: last == 0 ? lines : 10_000, after: last)
                let entries = try await query.read(records)
                last = entries.last?.id ?? last
                if options.json {
                    for entry in entries { Output.json(try JSONText.shownLine(entry)) }
                } else {
                    Output.lines(query.lines(entries))
                }
                if follow { try await Task.sleep(for: .milliseconds(500)) }
            } while follow
        }
    }
}
