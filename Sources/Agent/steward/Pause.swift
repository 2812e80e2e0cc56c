import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward pause`
struct Pause: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Begin nothing new until `steward resume`.",
        discussion: "What is at work is finished; what arrives is noted. Lasts over restarts.")

    @OptionGroup var options: CommonOptions

    var request: SetPaused { SetPaused(true) }
}
