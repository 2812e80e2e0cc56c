import AgentKit
import ArgumentParser
import Platform

/// `steward resume`
struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Go on after `steward pause`.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding { try await options.carryOut(SetPaused(false)) }
    }
}
