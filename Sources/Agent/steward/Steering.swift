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

/// `steward resume`
struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Go on after `steward pause`.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding { try await options.carryOut(SetPaused(false)) }
    }
}

/// `steward reload`
struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Have the agent read its rules again, and wait for it.",
        discussion:
            "The agent does so by itself when a rule file changes. A rule that is not valid leaves all as it was.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding { try await options.carryOut(ReloadRules()) }
    }
}

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
