import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward decline`
struct Decline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Say no to what a job asks.",
        discussion: "The job ends; what it had done before it asked stays, and `steward undo` takes it back.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or its beginning.")
    var job: String

    func run() async throws {
        try await Output.guarding { try await options.carryOut(DeclineJob(job)) }
    }
}
