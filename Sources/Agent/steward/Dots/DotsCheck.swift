import AgentKit
import ArgumentParser
import Platform

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
