import DotLifePersistence
import Platform

/// What reads or writes folders of whoever asks. The command line alone does that, in a process of its own: the agent may be
/// another user's, have no way to the folder, and leave files there that the person cannot change.
extension DotContext {
    /// Writes all captures into a new folder.
    package func export(to folder: BytePath) async throws -> StoreExport { try await store.export(to: folder) }

    /// Takes in what ``export(to:)`` has written, and makes the small pictures that it leaves out. Where that fails,
    /// ``notice`` is told: the captures are there all the same.
    package func importCaptures(from folder: BytePath) async throws -> StoreImport {
        let report = try await store.importCaptures(from: folder)
        if report.added > 0 { await makeThumbnails() }
        return report
    }

    /// Copies the store into a new folder.
    package func backUp(to folder: BytePath) async throws -> StoreBackup { try await store.backUp(to: folder) }

    private func makeThumbnails() async {
        do {
            let made = try await store.makeThumbnails()
            for (name, reason) in made.failed.sorted(by: { $0.key < $1.key }) { notice("photos/\(name): \(reason)") }
        } catch {
            notice("the photos have no small pictures: \(explain(error))")
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
                "added \(added) captures; \(already) were there already"
                    + (incomplete > 0 ? "; \(incomplete) lack a file" : "")
                    + (refused > 0 ? "; \(refused) lines were not taken" : "")
            ]
    }
}

extension StoreBackup {
    package var isWhole: Bool { missing.isEmpty }

    package func lines(_ folder: BytePath) -> [String] {
        missing.map { "missing in the store: \($0.message)" }
            + ["backed up \(captures) captures with \(files) files into \(folder)"]
    }
}
