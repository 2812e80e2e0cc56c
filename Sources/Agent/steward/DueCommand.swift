import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules

/// `steward due`
struct DueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "due", abstract: "Show what time alone will bring, the earliest first.",
        discussion: """
            A file stands here for each rule that may come to want it although nothing happens to it, such as one with \
            `age: "> 30d"`; and each rule that runs by a schedule (`at`, `every`).
            """)

    @OptionGroup var options: CommonOptions

    @Option(name: .long, help: "Only files of this place.")
    var place: String?

    @Option(name: .long, help: "How many lines.")
    var limit = 50

    func validate() throws {
        guard limit > 0 else { throw ValidationError("`--limit` must be 1 or more.") }
    }

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let configuration = try options.configuration(directories)
            if let place, configuration.map[name: place] == nil {
                let names = configuration.map.places.map(\.name).joined(separator: ", ")
                throw Fault(.usage, "no place is called \"\(place)\"; there are \(names)")
            }
            guard let ledger = try Ledger.openForReading(directory: directories.state) else {
                throw Fault(.failed, "the agent has not run yet; start it with `steward run`")
            }
            let report = try await DueReport.of(
                ledger, place: place, limit: limit, timeZone: configuration.timeZone)
            try Output.show(report, lines: report.lines, json: options.json)
        }
    }
}
