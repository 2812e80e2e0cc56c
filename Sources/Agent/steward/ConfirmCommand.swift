import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward confirm`
struct ConfirmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm", abstract: "Show the questions of jobs, or answer one with yes.",
        discussion: "A rule asks with the action `confirm`; the job goes on with its next step.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or a prefix of it; without it, open questions are shown.")
    var job: String?

    @Flag(name: .long, help: "Answer all open questions with yes, or those of `--rule`.")
    var all = false

    @Option(name: .long, help: "Only this rule's jobs.")
    var rule: String?

    func validate() throws {
        if job != nil, all || rule != nil { throw ValidationError("give a job, or `--all`, and not both") }
        if rule != nil, !all { throw ValidationError("`--rule` narrows `--all`; give both") }
    }

    func run() async throws {
        try await Output.guarding {
            if job == nil, !all { return try await options.look(ListQuestions()) }
            try await options.carryOut(ConfirmJobs(job: job, rule: rule))
        }
    }
}
