import AgentKit
import ArgumentParser
import CommandArguments
import Foundation
import Ledger
import Platform
import Rules

/// `steward retry`
struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Try parked and waiting jobs again.",
        discussion: "A program that a rule ran and whose outcome is unknown is run again.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or its beginning; all parked and waiting jobs where none is given.")
    var job: String?

    func run() async throws {
        try await Output.guarding {
            try await options.carryOut(RetryJobs(job))
        }
    }
}

/// `steward undo`
struct Undo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back what a job did, last step first.",
        discussion: "Stops where something has been changed since, and says so; `steward log` shows jobs.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "The job's id or its beginning.")
    var job: String

    func run() async throws {
        try await Output.guarding {
            try await options.carryOut(UndoJob(job))
        }
    }
}

/// `steward quarantine`
struct Quarantine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Look after files that a rule refused.",
        subcommands: [List.self, Restore.self, Drop.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show what lies in quarantine, and why.")

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await Output.guarding { try await options.look(ListQuarantine()) }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Put a file back where it was.",
            discussion: "It counts as seen; `steward reprocess FILE` has the rules look at it again.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id that `quarantine list` shows, or its beginning.") var id: String

        func run() async throws {
            try await Output.guarding { try await options.carryOut(RestoreQuarantined(id)) }
        }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Delete a refused file for good.")

        @OptionGroup var options: CommonOptions
        @Argument(help: "The id that `quarantine list` shows, or its beginning.") var id: String

        func run() async throws {
            try await Output.guarding { try await options.carryOut(DropQuarantined(id)) }
        }
    }
}

/// `steward reprocess`
struct Reprocess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reprocess", abstract: "Run rules again on files that they have dealt with.",
        discussion: "Give a file or folder, a rule, or both.")

    @OptionGroup var options: CommonOptions

    @Argument(help: "A file or folder.", completion: .file())
    var path: PathArgument?

    @Option(name: .long, help: "Only this rule.")
    var rule: String?

    func run() async throws {
        try await Output.guarding {
            try await options.carryOut(ReprocessFiles(rule: rule, path: path?.absolute))
        }
    }
}

/// `steward rebuild`
struct Rebuild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "After the ledger was lost, or a place was replaced: say what the files there are.")

    @OptionGroup var options: CommonOptions

    @Option(help: "A place whose files are dealt with as if they had just arrived.")
    var process: String?

    @Option(help: "A place that is away: the folder that stands there now is taken for it.")
    var accept: String?

    func validate() throws {
        guard (process == nil) != (accept == nil) else {
            throw ValidationError("Say which place is meant: `--process PLACE` or `--accept PLACE`.")
        }
    }

    func run() async throws {
        try await Output.guarding {
            if let accept { try await options.carryOut(AcceptPlace(accept)) }
            if let process { try await options.carryOut(RebuildPlace(process)) }
        }
    }
}
