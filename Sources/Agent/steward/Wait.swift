import AgentKit
import ArgumentParser
import Ledger
import Platform

/// `steward wait`
struct Wait: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until no file is settling or being judged, and no job is running.",
        discussion: "For scripts.")

    @OptionGroup var options: CommonOptions

    var request: WaitUntilQuiet { WaitUntilQuiet() }
}
