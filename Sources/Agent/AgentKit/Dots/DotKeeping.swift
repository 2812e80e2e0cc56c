import DotLifePersistence
import Platform

/// Operations on the caller's folders. Only the command line runs them, in its own process: the agent may belong to
/// another user, lack access to the folder, and leave files there that the caller cannot change.
extension DotContext {
    /// Writes all captures to a new folder.
    package func export(to folder: BytePath) async throws -> StoreExport { try await store.export(to: folder) }

    /// Imports the output of ``export(to:)`` and makes the thumbnails that it leaves out. If that fails, ``notice`` is
    /// called; the captures are imported anyway.
    package func importCaptures(from folder: BytePath) async throws -> StoreImport {
        let report = try await store.importCaptures(from: folder)
        if report.added > 0 { await makeThumbnails() }
        return report
    }

    /// Copies the store to a new folder.
    package func backUp(to folder: BytePath) async throws -> StoreBackup { try await store.backUp(to: folder) }

    private func makeThumbnails() async {
        do {
            let made = try await store.makeThumbnails()
            for (name, reason) in made.failed.sorted(by: { $0.key < $1.key }) { notice("photos/\(name): \(reason)") }
        } catch {
            notice("the photos have no thumbnails: \(explain(error))")
        }
    }
}

extension StoreExport {
    package var isWhole: Bool { lost.isEmpty }

    package func lines(_ folder: BytePath) -> [String] {
        lost.map { "without a file: \($0.message)" }
            + ["exported \(captures) captures with \(attachments) files into \(folder)"]
    }
}

extension StoreImport {
    package var isWhole: Bool { problemCount == 0 }

    package var lines: [String] {
        let refused = problemCount - incomplete
        return problems.map(\.message)
            + (problemCount > problems.count ? ["and \(problemCount - problems.count) lines more"] : [])
            + [
                "added \(added) captures; \(already) existed already"
                    + (incomplete > 0 ? "; \(incomplete) lack a file" : "")
                    + (refused > 0 ? "; \(refused) lines were not imported" : "")
            ]
    }
}

extension StoreBackup {
    package var isWhole: Bool { missing.isEmpty }

    package func lines(_ folder: BytePath) -> [String] {
        missing.map { "missing from the store: \($0.message)" }
            + ["backed up \(captures) captures with \(files) files into \(folder)"]
    }
}
