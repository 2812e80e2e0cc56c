import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward wait`
struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until nothing settles, is judged or is at work any more.",
        discussion: "For scripts.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding { try await options.carryOut(WaitUntilQuiet()) }
    }
}
