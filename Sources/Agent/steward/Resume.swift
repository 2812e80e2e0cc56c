import AgentKit
import ArgumentParser
import Platform

/// `steward resume`
struct Resume: RequestCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Continue after `steward pause`.")

    @OptionGroup var options: CommonOptions

    var request: SetPaused { SetPaused(false) }
}
