import Foundation
import Glibc
import OwnFiles
import Platform

/// The demo's review: the findings for a draft, one answer, and the result of both.
struct DemonstrationReview: Sendable {
    static let draft: (BytePath, [UInt8]) = (
        "drafts/essay.md",
        Array(
            "# On houses\n\nA house is kept in order to be lived in. It stands there due to the fact that it is.\n".utf8
        )
    )
    private static let sidecar: BytePath = "drafts/essay.review.md"

    let base: BytePath
    let socket: BytePath
    let pool: BlockingPool

    /// Shows the findings, answers one, and shows the resulting draft. The agent must be running.
    func run(_ tell: @Sendable (String) -> Void) async throws {
        let path = base.appending(Self.sidecar)
        guard try FileStatus.of(path) != nil else { return }
        tell("\nThe review of \(Self.draft.0), in a file beside it:\n\n  --- \(Self.sidecar)")
        let found = try show(Self.sidecar, tell)
        tell("\nTicking its first finding, skipping the second, and saving:")
        var marks = ["x", "-"][...]
        let answered = found.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("- [ ]"), let mark = marks.popFirst() else { return String(line) }
            let changed = "- [\(mark)]" + line.dropFirst(5)
            tell("  | \(changed)")
            return changed
        }.joined(separator: "\n")
        try save(answered, as: path)
        let socket = socket
        _ = try await pool.run { try ControlClient.ask(WaitUntilQuiet(), at: socket) }
        tell("\n  --- \(Self.draft.0)")
        _ = try show(Self.draft.0, tell)
    }

    /// The file is closed on return; only then does it count as saved.
    private func save(_ text: String, as path: BytePath) throws {
        try Descriptor(path, O_WRONLY | O_TRUNC).write(Array(text.utf8), at: 0)
    }

    private func show(_ path: BytePath, _ tell: (String) -> Void) throws -> String {
        let text = String(decoding: try Descriptor(base.appending(path)).readAll(), as: UTF8.self)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { tell("  | \(line)") }
        return text
    }
}
