import Ledger
import Platform
import Rules

/// A file that was in quarantine.
package struct QuarantinedFile: Codable, Sendable {
    let path: BytePath
}

/// `steward quarantine`: the quarantined files, with the reasons.
package struct ListQuarantine: Query {
    package static let name = "quarantine"

    package init() {}

    package func read(_ records: Records) async throws -> [QuarantineRecord] {
        let held = try await records.ledger?.read { try $0.quarantine() } ?? []
        let state = records.directories.state
        return try await BlockingPool("quarantine").run {
            try held.map { try Quarantine.located($0, HeldFiles(below: [state])) }
        }
    }

    package func lines(_ answer: [QuarantineRecord]) -> [String] {
        if answer.isEmpty { return ["nothing is in quarantine"] }
        return answer.flatMap {
            ["\($0.id)  \($0.time)  \($0.place)/\($0.path)", "    \($0.reason)", "    \($0.stored)"]
        }
    }
}
