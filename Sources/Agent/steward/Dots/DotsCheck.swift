import AgentKit
import ArgumentParser
import Platform

/// `steward dots check`
struct DotsCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the store: the database, its index, every file's content.",
        discussion: "Exits with 2 if something is wrong. Lost data can only be restored from a backup.")

    @OptionGroup var options: DotsOptions

    @Flag(name: .long, help: "Repair what can be repaired: the index, the counts, thumbnails, unreferenced files.")
    var repair = false

    func run() async throws {
        try await options.with { dots in
            let report = try await options.carryOut(CheckCaptures(repairs: repair), in: dots)
            if !report.isSound { throw ExitCode(2) }
        }
    }
}
