import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward wait`
struct Wait: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until nothing settles, is judged or is at work any more.",
        discussion: "For scripts.")

    @OptionGroup var options: CommonOptions

    var request: WaitUntilQuiet { WaitUntilQuiet() }
}
