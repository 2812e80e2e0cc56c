import AgentKit
import ArgumentParser
import CommandArguments
import Foundation
import JSONText
import Ledger
import Platform

/// `steward status`
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say what the agent is doing, and what waits for you.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let command = ShowStatus()
            if let status = try ControlClient.ask(command, at: directories.socket) {
                return try options.show(status, of: command)
            }
            let configuration = try options.configuration(directories)
            guard let ledger = try Ledger.openForReading(directory: directories.state) else {
                throw Fault(.failed, "the agent has not run yet; start it with `steward run`")
            }
            let report = try await StatusReport.fromLedger(ledger, configuration, directories.losses)
            try options.show(report, of: command)
        }
    }
}

/// `steward log`
struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show what was done, newest last.",
        discussion: "With --follow, go on showing until interrupted.")

    @OptionGroup var options: CommonOptions

    @Option(name: [.short, .long], help: "How many lines.")
    var lines = 50

    @Option(name: .long, help: "Only this job: its id or the beginning of it.")
    var job: String?

    @Flag(name: [.short, .long], help: "Go on with what is done from now on.")
    var follow = false

    func run() async throws {
        try await Output.guarding {
            let records = try Records(try options.directories())
            var last: Int64 = 0
            repeat {
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

/// `steward explain`
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say which rules want a file and why, what was done with it, and what would be.",
        discussion: "Changes nothing: this is also the dry run.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The file.", completion: .file())
    var file: PathArgument

    @Option(name: .long, help: "As if this had happened: arrived, changed, renamed, removed; or scheduled.")
    var event: String?

    func run() async throws {
        try await Output.guarding {
            try await options.look(ExplainFile(file.absolute, event: event))
        }
    }
}
