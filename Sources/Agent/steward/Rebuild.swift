import AgentKit
import ArgumentParser
import Ledger
import Platform
import Rules

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
