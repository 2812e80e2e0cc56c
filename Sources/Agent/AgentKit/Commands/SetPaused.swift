import Ledger
import Platform
import RuleActions
import Rules

/// `steward pause` and `steward resume`
package struct SetPaused: Command {
    package struct Answer: Codable, Sendable {
        let paused: Bool
        /// Whether a running agent applied it; otherwise the next one will.
        let isRunning: Bool
    }

    package static let name = "set-paused"
    private let paused: Bool

    package init(_ paused: Bool) { self.paused = paused }

    package func run(in context: AgentContext) async throws -> Answer {
        if let agent = context.agent {
            try await agent.runner.setPaused(paused)
            await agent.courier.setPaused(paused)
        } else {
            let since = paused ? Timestamp.now().description : nil
            try await context.ledger.write { try $0.setMeta("paused", since) }
        }
        return Answer(paused: paused, isRunning: context.agent != nil)
    }

    package func lines(_ answer: Answer) -> [String] {
        switch (answer.paused, answer.isRunning) {
        case (true, true): ["paused: nothing new is begun until `steward resume`"]
        case (false, true): ["resumed"]
        case (true, false): ["the next agent starts paused"]
        case (false, false): ["the next agent starts working"]
        }
    }
}
