import Ledger
import Platform
import RuleActions
import Rules

/// `steward wait`: waits until no file is settling, being judged or being worked on.
package struct WaitUntilQuiet: Command {
    package struct Answer: Codable, Sendable {
        /// Since when nothing was pending; the wait itself lasts a little longer, to be sure.
        let quietSince: Timestamp
    }

    package static let name = "wait"
    package static let onlyLooks = true
    package static let needsAgent = true

    package init() {}

    /// Requires three quiet checks in a row: a job's output may be news in another place a moment later.
    package func run(in context: AgentContext) async throws -> Answer {
        let agent = try context.requireAgent()
        var calm = 0
        var since = Timestamp.now()
        while true {
            if await agent.pipeline.waitsForRules {
                throw Fault(.failed, "files wait until the rules are valid; `steward check` shows what is wrong")
            }
            await agent.runner.idle()
            try Task.checkCancellation()
            let isQuiet = try await agent.pipeline.isQuiet()
            if !isQuiet, let problem = agent.core.ledger.problem {
                throw Fault(.failed, "\(problem); files wait until it can be written")
            }
            let running = await agent.runner.status()
            let isAtRest = running.running == 0 && (running.queued == 0 || running.paused)
            let isOnTime = await agent.time.isIdle
            calm = await agent.courier.isIdle && isQuiet && isAtRest && isOnTime ? calm + 1 : 0
            if calm == 1 { since = Timestamp.now() }
            if calm == 3 { return Answer(quietSince: since) }
            try await Task.sleep(for: .milliseconds(calm == 0 ? 20 : 100))
        }
    }

    package func lines(_ answer: Answer) -> [String] { ["nothing is pending"] }
}
