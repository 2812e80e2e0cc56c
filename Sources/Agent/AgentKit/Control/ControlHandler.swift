import Foundation
import Ledger
import Platform
import PublishActions
import Rules
import Watching

/// The daemon's answers.
struct ControlHandler: Sendable {
    let agent: Agent

    func answer(_ request: ControlRequest) async -> ControlReply {
        defer { if !request.command.onlyLooks { agent.changes.tell() } }
        do {
            return try await carryOut(request)
        } catch {
            return ControlReply(failure: error)
        }
    }

    private func carryOut(_ request: ControlRequest) async throws -> ControlReply {
        let operations = Operations(core: agent.core, runner: agent.runner, pipeline: agent.pipeline)
        switch request.command {
        case .status:
            let status = try await StatusReport.live(agent)
            return try ControlReply(status, lines: status.lines)
        case .health:
            let health = HealthReport(try await StatusReport.live(agent))
            return try ControlReply(health, lines: health.lines)
        case .metrics:
            let document = await AgentMetrics(agent).document()
            return try ControlReply(
                ["metrics": document],
                lines: document.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init))
        case .pause:
            try await agent.runner.setPaused(true)
            await agent.courier.setPaused(true)
            return try ControlReply(["paused": true], lines: ["paused: nothing new is begun until `steward resume`"])
        case .resume:
            try await agent.runner.setPaused(false)
            await agent.courier.setPaused(false)
            return try ControlReply(["paused": false], lines: ["resumed"])
        case .reload:
            let found = try await agent.reload()
            guard !found.hasErrors else {
                let complaints = found.map(\.description).joined(separator: "\n")
                throw Fault(.failed, "the rules were not reloaded, those in force stay:\n\(complaints)")
            }
            return try ControlReply(found, lines: found.flatMap(\.lines) + ["reloaded"])
        case .retry: return try await operations.retry(request.id)
        case .confirm: return try await operations.confirm(request.id, rule: request.rule)
        case .decline: return try await operations.decline(try id(request))
        case .undo: return try await operations.undo(try id(request))
        case .reprocess: return try await operations.reprocess(rule: request.rule, path: request.path)
        case .rebuild:
            guard let place = request.place else { throw Fault(.usage, "say which place is meant") }
            return try await operations.rebuild(place: place)
        case .accept:
            guard let place = request.place else { throw Fault(.usage, "say which place is meant") }
            return try await operations.accept(place: place)
        case .quarantineRestore: return try await operations.restore(try id(request))
        case .quarantineDrop: return try await operations.drop(try id(request))
        case .outboxRetry: return try await operations.retryDelivery(request.id)
        case .outboxDrop: return try await operations.dropDelivery(try id(request))
        case .counterSet:
            guard let counter = request.counter else { throw Fault(.usage, "say which counter is meant") }
            return try await operations.setCounter(counter)
        case .acknowledge:
            let losses = agent.core.directories.losses
            return try await BlockingLane("losses").run { try LossOperations.acknowledge(request.id, losses) }
        case .blocksRestore: return try await operations.restoreBlocks(request.id, in: request.path)
        case .vault: throw Fault(.usage, "say what is asked of which vault")
        case .hold: throw Fault(.usage, "a hold lasts as long as its connection")
        case .examine:
            let found = await CageExamination(agent.core).findings()
            return try ControlReply(found, lines: found.flatMap(\.lines))
        case .wait:
            return try ControlReply(Quiet(quietSince: try await waitUntilQuiet()), lines: ["nothing is pending"])
        }
    }

    private func id(_ request: ControlRequest) throws -> String {
        guard let id = request.id, !id.isEmpty else { throw Fault(.usage, "say which job is meant") }
        return id
    }

    /// What `steward wait --json` prints.
    private struct Quiet: Encodable {
        /// From when on nothing was pending; the wait itself goes on for a while, to be sure.
        let quietSince: Timestamp
    }

    /// Quiet three times in a row: a job's product may be news in another place a moment later.
    ///
    /// - Returns: when it was the first of the three times.
    private func waitUntilQuiet() async throws -> Timestamp {
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
            if calm == 3 { return since }
            try await Task.sleep(for: .milliseconds(calm == 0 ? 20 : 100))
        }
    }
}
