import DotLifePersistence
import Platform
import SQLiteFile

extension DotContext {
    /// Writes all captures into a new folder.
    package func export(to folder: BytePath) async throws -> StoreExport { try await store.export(to: folder) }

    /// Takes in what ``export(to:)`` has written, and makes the small pictures that it leaves out.
    ///
    /// - Parameter notice: told why there are none: the captures are there all the same.
    package func importCaptures(
        from folder: BytePath, notice: (String) -> Void
    ) async throws -> StoreImport {
        let report = try await store.importCaptures(from: folder)
        if report.added > 0 { await makeThumbnails(notice) }
        return report
    }

    /// Copies the store into a new folder.
    package func backUp(to folder: BytePath) async throws -> StoreBackup { try await store.backUp(to: folder) }

    /// Looks through the store; with `repairs`, mends what can be, and looks again.
    package func check(repairs: Bool, notice: (String) -> Void) async throws -> StoreExamination {
        let mended = repairs ? try await store.repair() : []
        return StoreExamination(check: try await store.check(), mended: mended, losses: try await store.losses())
    }

    private func makeThumbnails(_ notice: (String) -> Void) async {
        do {
            let made = try await store.makeThumbnails()
            for (name, reason) in made.failed.sorted(by: { $0.key < $1.key }) { notice("photos/\(name): \(reason)") }
        } catch {
            notice("the photos have no small pictures: \(explain(error))")
        }
    }
}

/// What was wrong in the store, and what still is.
package struct StoreExamination: Sendable, Encodable {
    package let check: StoreCheck
    /// What has been put right.
    package let mended: [StoreFinding]
    /// Stores that were set aside and stood here before, as far as nobody has acknowledged it.
    package let losses: [StoreLoss]

    package var isSound: Bool { check.findings.isEmpty && losses.isEmpty }

    package var lines: [String] {
        let (size, files) = (ComicText.bytes(check.bytes), check.files == 1 ? "1 file" : "\(check.files) files")
        let captures = check.captures == 1 ? "1 capture" : "\(check.captures) captures"
        let still = check.findings.map { "\($0.message)\($0.isRepairable ? " (--repair mends this)" : "")" }
        return mended.map { "mended: \($0.message)" } + still
            + losses.map { "lost: \($0.line)" }
            + [
                "\(captures), \(files), \(size): "
                    + (isSound ? "sound" : "\(still.count + losses.count) findings")
            ]
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
