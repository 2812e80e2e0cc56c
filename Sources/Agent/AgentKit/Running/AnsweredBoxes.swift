import Ledger
import Logging
import NoteActions
import Platform

/// Closes the boxes in notes whose questions were answered by a command, by time, or are asked no more: `[x]` for a yes,
/// `[-]` for a no. What has no answer goes, so that a question that is asked anew stands there once.
struct AnsweredBoxes: Sendable {
    let ledger: Ledger
    let notes: NoteWriter
    let log: Logger

    /// Seconds until a note is tried again that somebody has open.
    private static let pause = 30

    /// Runs until the task is cancelled.
    func run() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        ledger.questions.listen { continuation.yield() }
        defer { ledger.questions.listen(nil) }
        // Those that an earlier life has left.
        continuation.yield()
        for await _ in signals {
            while await !closeAll() {
                do { try await Task.sleep(for: .seconds(Self.pause)) } catch { return }
            }
        }
    }

    /// - Returns: false where some are to be tried again later.
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
                    // The note is gone, or cannot be written in place: its box is a person's.
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
