import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules

/// `steward undo`
struct Undo: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back what a job did, last step first.",
        discussion: "Stops at anything that has been changed since, and says so; `steward log` shows jobs.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or a prefix of it.")
    var job: String

    var request: UndoJob { UndoJob(job) }
}
