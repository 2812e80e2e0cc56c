import Ledger
import Logging
import NoteActions
import Platform

/// Closes the boxes in notes for questions that were answered by a command or by a timeout, or that no longer apply:
/// `[x]` for yes, `[-]` for no. Boxes without an answer are removed, so that a question asked again appears only once.
struct AnsweredBoxes: Sendable {
    let ledger: Ledger
    let notes: NoteWriter
    let log: Logger

    /// Seconds before retrying a note that is open elsewhere.
    private static let pause = 30

    /// Runs until the task is cancelled.
    func run() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        ledger.questions.listen { continuation.yield() }
        defer { ledger.questions.listen(nil) }
        // Handle the boxes left by an earlier run.
        continuation.yield()
        for await _ in signals {
            while await !closeAll() {
                do { try await Task.sleep(for: .seconds(Self.pause)) } catch { return }
            }
        }
    }

    /// - Returns: false if some must be retried later.
    private func closeAll() async -> Bool {
        var isDone = true
        do {
            for question in try await ledger.read({ try $0.boxesToClose() }) {
                guard let note = question.note, let token = question.token else { continue }
                do {
                    try await notes.closeBox(of: question, in: note, token)
                } catch let fault as Fault where fault.kind == .transient {
                    log.debug(
                        "the box of a question waits: \(fault.message)", metadata: ["job": "\(question.job.prefix(12))"]
                    )
                    isDone = false
                } catch {
                    // The note is gone or cannot be written in place: its box is left to the user.
                    log.info(
                        "the box of a question is left as it is: \(explain(error))",
                        metadata: ["job": "\(question.job.prefix(12))"])
                    try await ledger.write { try $0.setBoxClosed(question.step) }
                }
            }
        } catch {
            log.error("cannot close the boxes of answered questions, again in half a minute: \(explain(error))")
            return false
        }
        return isDone
    }
}
