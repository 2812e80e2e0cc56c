import Foundation
import Platform
import SQLiteFile

extension Directories {
    /// Where the losses of all databases are noted that an agent and its commands use, `tk`'s too.
    package var losses: LossRegistry {
        let drafts = BackupStore.drafts(ProcessInfo.processInfo.environment)
        return LossRegistry([state, DotContext.folder(self)] + (drafts.map { [$0] } ?? []))
    }
}

/// `steward losses`: which databases were lost.
package struct ListLosses: Query {
    package static let name = "losses"

    package init() {}

    package func read(_ records: Records) async throws -> [StoreLoss] { try await read(records.directories.losses) }

    /// Without a ledger, which may be what was lost.
    package func read(_ losses: LossRegistry) async throws -> [StoreLoss] {
        try await BlockingPool("losses").run { try losses.standing() }
    }

    package func lines(_ answer: [StoreLoss]) -> [String] {
        answer.isEmpty ? ["nothing was lost"] : answer.map(\.line)
    }
}

/// `steward losses acknowledge`: says that a person knows which databases were lost.
package struct AcknowledgeLosses: Command {
    package static let name = "acknowledge"
    /// Of a loss, or its beginning; nil for all.
    private let loss: String?

    package init(_ loss: String?) { self.loss = loss }

    package func run(in agent: AgentContext) async throws -> [StoreLoss] {
        let losses = agent.core.directories.losses
        return try await BlockingPool("losses").run { try acknowledge(losses) }
    }

    /// Blocks.
    ///
    /// - Throws: `Fault(.usage)` where there is no such loss.
    package func acknowledge(_ losses: LossRegistry) throws -> [StoreLoss] { try losses.acknowledge(loss) }

    package func lines(_ answer: [StoreLoss]) -> [String] {
        answer.isEmpty ? ["nothing was lost"] : answer.map { "acknowledged \($0.id)" }
    }
}
