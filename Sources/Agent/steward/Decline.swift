import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward decline`
struct Decline: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Answer a job's question with no.",
        discussion: "The job ends; what it did before asking stays, and `steward undo` takes it back.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or a prefix of it.")
    var job: String

    var request: DeclineJob { DeclineJob(job) }
}
