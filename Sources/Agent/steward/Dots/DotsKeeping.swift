import AgentKit
import ArgumentParser
import CommandArguments
import Platform

/// `steward dots export`
struct DotsExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write all captures into a new folder: a line of JSON each, and their files.",
        discussion: "Nothing is lost on the way out and in again but small pictures, which are made anew.")

    @OptionGroup var options: DotsOptions
    @Argument(help: "A folder that is not there yet.", completion: .directory) var folder: PathArgument

    func run() async throws {
        try await options.with { dots in
            let path = DotsOptions.path(folder)
            let report = try await dots.export(to: path)
            try Output.show(report, lines: report.lines(path), json: options.json)
            if !report.isWhole { throw ExitCode(2) }
        }
    }
}

/// `steward dots import`
struct DotsImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take in the captures of a folder that `dots export` has written.",
        discussion: """
            What is there already is left alone, so a second import changes nothing. A line that cannot be taken is named, \
            the others are taken; the command then ends with 2.
            """)

    @OptionGroup var options: DotsOptions
    @Argument(help: "The folder.", completion: .directory) var folder: PathArgument

    func run() async throws {
        try await options.with { dots in
            let report = try await dots.importCaptures(from: DotsOptions.path(folder))
            try Output.show(report, lines: report.lines, json: options.json)
            if !report.isWhole { throw ExitCode(2) }
        }
    }
}

/// `steward dots backup`
struct DotsBackup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the whole store into a new folder, while the agent goes on.",
        discussion: """
            The folder is a store itself: put in the store's place while nothing runs, it is the store of then. On the same \
            disk the files take no room twice.
            """)

    @OptionGroup var options: DotsOptions
    @Argument(help: "A folder that is not there yet.", completion: .directory) var folder: PathArgument

    func run() async throws {
        try await options.with { dots in
            let path = DotsOptions.path(folder)
            let report = try await dots.backUp(to: path)
            try Output.show(report, lines: report.lines(path), json: options.json)
            if !report.isWhole { throw ExitCode(2) }
        }
    }
}

/// `steward dots check`
struct DotsCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look whether the store is sound: the database, its index, every file's content.",
        discussion: "Ends with 2 where something is wrong. What is lost only a backup brings back.")

    @OptionGroup var options: DotsOptions

    @Flag(name: .long, help: "Mend what can be: the index, the counts, small pictures, files that no capture has.")
    var repair = false

    func run() async throws {
        try await options.with { dots in
            let report = try await options.carryOut(CheckCaptures(repairs: repair), in: dots)
            if !report.isSound { throw ExitCode(2) }
        }
    }
}
