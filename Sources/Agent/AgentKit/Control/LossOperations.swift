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

/// `steward losses`: which databases were lost, and that a person knows.
package enum LossOperations {
    /// Blocks.
    package static func list(_ losses: LossRegistry) throws -> ControlReply {
        let standing = try losses.standing()
        return try ControlReply(standing, lines: standing.isEmpty ? ["nothing was lost"] : standing.map(\.line))
    }

    /// Blocks.
    ///
    /// - Parameter id: of a loss or its beginning; nil for all.
    /// - Throws: `Fault(.usage)` where there is no such loss.
    package static func acknowledge(_ id: String?, _ losses: LossRegistry) throws -> ControlReply {
        let done = try losses.acknowledge(id)
        return try ControlReply(
            done, lines: done.isEmpty ? ["nothing was lost"] : done.map { "acknowledged \($0.id)" })
    }
}
