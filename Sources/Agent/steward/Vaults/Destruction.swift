import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// Runs a destructive command: says what would be destroyed, asks, and does it.
struct Destruction: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Only say what would be done.")
    var dryRun = false

    /// - Parameters:
    ///   - question: the question for a number of items.
    ///   - otherwise: the message if the answer is no.
    func carryOut<C: VaultDestruction>(
        _ command: C, _ options: VaultOptions, _ source: PasswordSource,
        question: (_ count: Int) -> String, otherwise: String
    ) throws {
        let access = try options.access(source)
        defer { access.close() }
        var command = command
        command.isDryRun = true
        let plan = try access.ask(command)
        if dryRun || plan.items.isEmpty { return try Output.show(plan, lines: plan.lines, json: options.json) }
        if !yes && !options.json { Output.lines(plan.lines) }
        try Consent.require(question(plan.items.count), yes: yes, json: options.json, otherwise: otherwise)
        command.isDryRun = false
        command.narrow(to: plan.items)
        let change = try access.ask(command)
        try Output.show(change, lines: change.lines, json: options.json)
    }
}
