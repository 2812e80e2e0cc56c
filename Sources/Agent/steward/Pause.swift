import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward pause`
struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Begin nothing new until `steward resume`.",
        discussion: "What is at work is finished; what arrives is noted. Lasts over restarts.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding { try await options.carryOut(SetPaused(true)) }
    }
}
