import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules

/// `steward retry`
struct Retry: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Retry parked and waiting jobs.",
        discussion: "A program whose outcome is unknown is run again.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or a prefix of it; all parked and waiting jobs if none is given.")
    var job: String?

    var request: RetryJobs { RetryJobs(job) }
}
