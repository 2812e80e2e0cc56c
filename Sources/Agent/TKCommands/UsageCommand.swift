import ArgumentParser
import Foundation
import Platform
import TKCore

struct UsageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage", abstract: "Show the tokens and cost of calls to models, and the remaining budget.")

    @Option(
        name: .long, help: "Sum up by day, month, model, provider or purpose.",
        completion: Choice.completion(UsageGrouping.self), transform: Choice.named)
    var by: UsageGrouping = .month

    @Option(name: .long, help: ArgumentHelp("Only calls from this day on, such as 2026-11-21.", valueName: "day"))
    var since: String?

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    @Flag(name: .long, help: "Delete the records of all calls, after a question.")
    var reset = false

    @Flag(name: .long, help: "Do not ask.")
    var force = false

    func run() async throws {
        try await Terminal.guarding {
            let wiring = try Wiring()
            let prices = try wiring.models()
            let configuration = try wiring.configuration(prices).effective()
            let start = try since.map(Self.day)
            try wiring.home.make()
            let opened = try await UsageLedger.open(
                wiring.home.usage, prices: prices, budget: configuration.monthlyBudget, timeZone: .current)
            for notice in opened.notices { Terminal.note("tk: warning: \(notice)") }
            if reset {
                guard force || (Terminal.isTerminal(0) && Terminal.confirms("Delete the records of all calls?"))
                else {
                    throw Fault(.usage, "nothing was deleted; use --force")
                }
                try await opened.ledger.reset()
            }
            let summary = try await opened.ledger.summary(by: by, from: start)
            let state = try await opened.ledger.budgetState()
            Terminal.write(
                json
                    ? UsageOutput.json(summary, by: by, state)
                    : UsageOutput.text(summary, by: by, state, Terminal.style))
            try await opened.ledger.close()
        }
    }

    private static func day(_ text: String) throws -> Date {
        guard let day = CivilDateTime(text)?.date, text.utf8.count == 10 else {
            throw Fault(.usage, "--since takes a day such as 2026-11-21, not \"\(BytePath.escape(text.utf8))\"")
        }
        return Date(timeIntervalSince1970: Double(Zone.current.start(of: day)))
    }
}
