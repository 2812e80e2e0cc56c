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
        try await Output.guarding { try await Paused(options: options).set(true) }
    }
}

/// `steward resume`
struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Go on after `steward pause`.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding { try await Paused(options: options).set(false) }
    }
}

private struct Paused {
    let options: CommonOptions

    func set(_ paused: Bool) async throws {
        try await DaemonOrHere(options: options).ask(ControlRequest(paused ? .pause : .resume)) { operations in
            try await operations.core.ledger.write {
                try $0.setMeta("paused", paused ? Timestamp.now().description : nil)
            }
            return try ControlReply(
                ["paused": paused], lines: [paused ? "the next agent starts paused" : "the next agent starts working"])
        }
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
        try await Output.guarding { try DaemonOrHere(options: options).askDaemon(ControlRequest(.reload)) }
    }
}

/// `steward wait`
struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until nothing settles, is judged or is at work any more.",
        discussion: "For scripts.")

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding { try DaemonOrHere(options: options).askDaemon(ControlRequest(.wait)) }
    }
}
