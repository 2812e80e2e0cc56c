import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules

/// `steward retry`
struct Retry: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Try parked and waiting jobs again.",
        discussion: "A program that a rule ran and whose outcome is unknown is run again.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or its beginning; all parked and waiting jobs where none is given.")
    var job: String?

    var request: RetryJobs { RetryJobs(job) }
}
