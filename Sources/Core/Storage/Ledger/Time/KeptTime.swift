import Foundation
import JSONText
import Platform

/// Up to when time was seen to pass, across restarts.
extension LedgerTransaction {
    private static let seenTime = "seen-time"

    /// What the last agent has seen. Of an older version's ledger: that the clock was right at its newest entry.
    ///
    /// - Returns: nil for a ledger without any entry.
    package func keptTime() throws -> SeenTime? {
        if let text = try meta(Self.seenTime) { return try JSONDecoder().decode(SeenTime.self, from: Data(text.utf8)) }
        return try newestEntry().map { SeenTime($0) }
    }

    package func setKeptTime(_ seen: SeenTime) throws { try setMeta(Self.seenTime, try JSONText.line(seen)) }

    /// When the newest line of the history was written, by the clock of then.
    package func newestEntry() throws -> Timestamp? {
        try value("SELECT time FROM history ORDER BY id DESC LIMIT 1")
    }
}
