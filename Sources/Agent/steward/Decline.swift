import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward decline`
struct Decline: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Say no to what a job asks.",
        discussion: "The job ends; what it had done before it asked stays, and `steward undo` takes it back.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or its beginning.")
    var job: String

    var request: DeclineJob { DeclineJob(job) }
}
