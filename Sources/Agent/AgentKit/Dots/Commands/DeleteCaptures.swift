import DotLifePersistence
import Foundation
import Platform
import SQLiteFile

/// `steward dots delete`: permanently deletes captures and their files. Does not ask for confirmation: the command line
/// does.
package struct DeleteCaptures: DotCommand {
    package typealias Answer = [CaptureReport]

    package static let name = "dots-delete"
    /// Ids, or their beginnings.
    private let ids: [String]

    package init(_ ids: [String]) { self.ids = ids }

    /// The captures to delete, without duplicates.
    ///
    /// - Throws: `Fault(.usage)` if an id matches none or several.
    package func named(in dots: DotContext) async throws -> [CaptureReport] {
        var captures: [CaptureReport] = []
        for id in ids {
            let capture = try await dots.capture(id)
            if !captures.contains(where: { $0.id == capture.id }) { captures.append(capture) }
        }
        return captures
    }

    package func run(in dots: DotContext) async throws -> [CaptureReport] {
        let captures = try await named(in: dots)
        for capture in captures {
            guard let id = UUID(uuidString: capture.id) else { continue }
            try await dots.store.delete(byID: id)
        }
        // Their content has passed through the ledger, whose log may still contain it.
        let ledger = dots.ledger
        if try await !BlockingPool("dots.delete").run({ try SQLiteFile.emptyLog(of: ledger) }) {
            dots.notice(
                "the write-ahead log of \(ledger) still contains their data, because another process is reading it; it is "
                    + "cleared later")
        }
        return captures
    }

    package func lines(_ answer: [CaptureReport], on display: DotDisplay) -> [String] {
        answer.map { "removed the \($0.line(on: display))" }
    }
}
