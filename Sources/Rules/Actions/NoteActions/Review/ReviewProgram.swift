import FileActions
import Foundation
import Platform
import Rules
import TKCore

/// The program of a rule's pass `program`: it is run as the action `run` does it, and its report is read like one that
/// is given to `tk findings add`.
struct ReviewProgram: Codable, Sendable, Equatable {
    /// nil if it cannot be run.
    let run: RunProgram.Intent?
    /// Why it cannot be run, for people.
    let trouble: String?

    /// The longest report, in bytes.
    private static let longest = 8 << 20

    /// nil without such a pass.
    init?(_ runner: RunProgram?, _ input: StepInput) async throws {
        guard let runner else { return nil }
        do {
            (run, trouble) = (try await runner.intent(for: input), nil)
        } catch let fault as Fault where fault.kind == .failed {
            (run, trouble) = (nil, fault.message)
        }
    }

    var name: String { run?.arguments.first.map { BytePath($0).nameText } ?? "a program" }

    /// Adds what the program finds. A failure is told to the writer, and does not fail the review.
    ///
    /// - Throws: `CancellationError`, and `Fault` if the draft is gone.
    func read(
        _ draft: DraftText, _ path: BytePath, by runner: RunProgram, _ context: StepContext,
        _ found: inout ModelFindings
    ) async throws {
        guard let run else { return fail(trouble ?? "", &found) }
        // The agent's own lease on the draft requires it to be closed.
        defer { context.files.closeFiles() }
        do {
            let (placed, unplaced) = try await runner.output(of: run, context, limit: Self.longest) { output in
                let findings = try ReportFormat.read(output: Array(output.utf8), about: draft)
                let placer = FindingPlacer(draft, name: path)
                return placer.place(findings, origin: .program)
            }
            found.program = placed
            let lost = unplaced.filter { !$0.isElsewhere }
            guard let first = lost.first else { return }
            let count = lost.count == 1 ? "1 finding" : "\(lost.count) findings"
            found.reading.notes.append(
                Printable.line(
                    "\(name): \(count) without a place in the draft (\(first.finding.message.prefix(80)): \(first.reason))."
                ))
        } catch let fault as Fault where fault.kind != .superseded && fault.kind != .transient {
            fail(fault.message, &found)
        }
    }

    private func fail(_ reason: String, _ found: inout ModelFindings) {
        found.reading.troubles.append(Printable.line("\(name) has not read this text: \(reason)"))
        found.isIncomplete = true
    }
}
