import Foundation
import Platform
import SQLiteFile

extension Directories {
    /// The registry of losses, for all databases used by an agent and its commands, including those of `tk`.
    package var losses: LossRegistry {
        let drafts = BackupStore.drafts(ProcessInfo.processInfo.environment)
        return LossRegistry([state, DotContext.folder(self)] + (drafts.map { [$0] } ?? []))
    }
}

/// `steward losses`: lists the lost databases.
package struct ListLosses: Query {
    package static let name = "losses"

    package init() {}

    package func read(_ records: Records) async throws -> [StoreLoss] { try await read(records.directories.losses) }

    /// Works without a ledger, which may itself be lost.
    package func read(_ losses: LossRegistry) async throws -> [StoreLoss] {
        try await BlockingPool("losses").run { try losses.standing() }
    }

    package func lines(_ answer: [StoreLoss]) -> [String] {
        answer.isEmpty ? ["nothing was lost"] : answer.map(\.line)
    }
}

/// `steward losses acknowledge`: marks losses as known to a person.
package struct AcknowledgeLosses: Command {
    package static let name = "acknowledge"
    /// The id of a loss, or its beginning; nil for all.
    private let loss: String?

    package init(_ loss: String?) { self.loss = loss }

    package func run(in agent: AgentContext) async throws -> [StoreLoss] {
        let losses = agent.core.directories.losses
        return try await BlockingPool("losses").run { try acknowledge(losses) }
    }

    /// Blocks.
    ///
    /// - Throws: `Fault(.usage)` if there is no such loss.
    package func acknowledge(_ losses: LossRegistry) throws -> [StoreLoss] { try losses.acknowledge(loss) }

    package func lines(_ answer: [StoreLoss]) -> [String] {
        answer.isEmpty ? ["nothing was lost"] : answer.map { "acknowledged \($0.id)" }
    }
}
