import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules

/// `steward rebuild`
struct Rebuild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Declare how to treat existing files after the ledger was lost or a place was replaced.")

    @OptionGroup var options: CommonOptions

    @Option(help: "Process this place's files as if they had just arrived.")
    var process: String?

    @Option(help: "Accept the current folder as this place, which is away.")
    var accept: String?

    func validate() throws {
        guard (process == nil) != (accept == nil) else {
            throw ValidationError("Name a place: `--process PLACE` or `--accept PLACE`.")
        }
    }

    func run() async throws {
        try await Output.guarding {
            if let accept { try await options.carryOut(AcceptPlace(accept)) }
            if let process { try await options.carryOut(RebuildPlace(process)) }
        }
    }
}
