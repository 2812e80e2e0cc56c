import Foundation
import JSONText
import Platform

/// Up to when time was observed to pass, across restarts.
extension LedgerTransaction {
    private static let seenTime = "seen-time"

    /// The time last seen by the previous agent. For an older version's ledger, assumes that the clock was right at its
    /// newest entry.
    ///
    /// - Returns: nil for a ledger without entries.
    package func keptTime() throws -> SeenTime? {
        if let text = try meta(Self.seenTime) { return try JSONDecoder().decode(SeenTime.self, from: Data(text.utf8)) }
        return try newestEntry().map { SeenTime($0) }
    }

    package func setKeptTime(_ seen: SeenTime) throws { try setMeta(Self.seenTime, try JSONText.line(seen)) }

    /// When the newest history line was written, on the clock at the time.
    package func newestEntry() throws -> Timestamp? {
        try value("SELECT time FROM history ORDER BY id DESC LIMIT 1")
    }
}
