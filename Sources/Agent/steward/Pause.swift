import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward pause`
struct Pause: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Start nothing new until `steward resume`.",
        discussion: "Running steps are completed; arrivals are recorded. The pause survives restarts.")

    @OptionGroup var options: CommonOptions

    var request: SetPaused { SetPaused(true) }
}
