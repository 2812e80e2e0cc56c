import AgentKit
import ArgumentParser

/// `steward dots delete`
struct DotsDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Permanently remove captures from the store, with their files.",
        discussion: """
            Asks first; where nobody can be asked, --yes is needed. What a rule wrote into a note of a capture stays: \
            `steward undo` takes back all that a job did. The ledger remembers such a block for as long as its `history`.
            """)

    @OptionGroup var options: DotsOptions

    @Argument(help: "Ids shown by `dots show` and `dots search`, or prefixes of them.")
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
