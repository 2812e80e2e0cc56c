import DotLifePersistence
import Platform
import SQLiteFile

/// `steward dots check`: checks the store and reads every file.
package struct CheckCaptures: DotCommand {
    /// The problems found in the store, before and after repair.
    package struct Answer: Codable, Sendable {
        let check: StoreCheck
        /// Repaired problems.
        let mended: [StoreFinding]
        /// Earlier stores that were set aside and have not been acknowledged.
        let losses: [StoreLoss]

        package var isSound: Bool { check.findings.isEmpty && losses.isEmpty }
    }

    package static let name = "dots-check"
    /// Whether to repair first.
    private let repairs: Bool

    package init(repairs: Bool) { self.repairs = repairs }

    package func run(in dots: DotContext) async throws -> Answer {
        let mended = repairs ? try await dots.store.repair() : []
        return Answer(check: try await dots.store.check(), mended: mended, losses: try await dots.store.losses())
    }

    package func lines(_ answer: Answer, on _: DotDisplay) -> [String] {
        let check = answer.check
        let (size, files) = (ComicText.bytes(check.bytes), check.files == 1 ? "1 file" : "\(check.files) files")
        let captures = check.captures == 1 ? "1 capture" : "\(check.captures) captures"
        let still = check.findings.map { "\($0.message)\($0.isRepairable ? " (--repair fixes this)" : "")" }
        let lines = answer.mended.map { "repaired: \($0.message)" } + still + answer.losses.map { "lost: \($0.line)" }
        let outcome = answer.isSound ? "sound" : "\(still.count + answer.losses.count) findings"
        return (lines + ["\(captures), \(files), \(size): \(outcome)"]).map { ShownText.line($0) }
    }
}
