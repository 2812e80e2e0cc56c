import Platform
import Synchronization

/// One piece of work at a time for each note, in the order in which it was asked for. What is asked for meanwhile waits,
/// and is done together; other notes go on.
///
/// `Memory` is what one piece of work leaves to the next. No actor: each block comes by, and would change its thread for it.
final class NoteTurns<NoteOperation: Sendable, Answer: Sendable, Memory: Sendable>: Sendable {
    /// Somebody who waits for an answer.
    final class Turn: Sendable {
        let wish: NoteOperation
        private let waiting: Mutex<CheckedContinuation<Answer, any Error>?>

        fileprivate init(_ wish: NoteOperation, _ continuation: CheckedContinuation<Answer, any Error>) {
            self.wish = wish
            waiting = Mutex(continuation)
        }

        /// The first answer counts.
        func answer(_ answer: Answer) { claim()?.resume(returning: answer) }

        func fail(_ error: any Error) { claim()?.resume(throwing: error) }

        private func claim() -> CheckedContinuation<Answer, any Error>? {
            waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
        }
    }

    /// Answers each turn, at any time before it returns; those that it has not answered get what it throws.
    typealias Work = @concurrent @Sendable (_ note: BytePath, _ turns: [Turn], _ memory: Memory) async throws -> Void

    private struct State {
        var waiting: [BytePath: [Turn]] = [:]
        var atWork: Set<BytePath> = []
        /// What the work left at the note at which it ended last.
        var kept: (note: BytePath, memory: Memory)?
    }

    private let makeMemory: @Sendable () -> Memory
    private let mayKeep: @Sendable (Memory) -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - memory: makes that of a note of which there is none.
    ///   - mayKeep: whether it is small enough to be kept while nobody waits for the note, for as long as no other note comes.
    init(
        memory: @escaping @Sendable () -> Memory, mayKeep: @escaping @Sendable (Memory) -> Bool = { _ in false }
    ) {
        makeMemory = memory
        self.mayKeep = mayKeep
    }

    /// Waits for the note's turn, and in it for the answer.
    ///
    /// - Parameter work: the same in all calls; carried out in the note's own bulkhead.
    /// - Throws: what the work throws; `Fault(.transient)` at once where the note's file system does not answer.
    func enqueue(_ wish: NoteOperation, on note: BytePath, work: @escaping Work) async throws -> Answer {
        let whose = Bulkhead("the note \(note)")
        if HangWatch.shared.hangs(for: whose) {
            throw Fault(
                .transient, "\(note) has to wait: its file system does not answer", path: note, code: Fault.hanging)
        }
        return try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting[note, default: []].append(Turn(wish, continuation))
                return state.atWork.insert(note).inserted
            }
            guard isFirst else { return }
            BlockingPool.start(for: whose) { await self.serve(note, work) }
        }
    }

    /// How many wait for the note's next turn.
    func waits(on note: BytePath) -> Int { state.withLock { $0.waiting[note]?.count ?? 0 } }

    /// Whether nothing is at work.
    var isAtRest: Bool { state.withLock(\.atWork.isEmpty) }

    private func serve(_ note: BytePath, _ work: Work) async {
        let memory = keptMemory(of: note) ?? makeMemory()
        while let turns = next(on: note, memory) {
            do {
                try await work(note, turns, memory)
                let forgotten = Fault(.failed, "what was asked of \(note) was left without an answer", path: note)
                for turn in turns { turn.fail(forgotten) }
            } catch {
                for turn in turns { turn.fail(error) }
            }
        }
    }

    private func keptMemory(of note: BytePath) -> Memory? {
        state.withLock { state in
            guard let kept = state.kept, kept.note == note else { return nil }
            state.kept = nil
            return kept.memory
        }
    }

    /// Those that wait for the note; where nobody does, the note is left.
    private func next(on note: BytePath, _ memory: Memory) -> [Turn]? {
        state.withLock { state in
            let turns = state.waiting.removeValue(forKey: note)
            if turns == nil {
                state.atWork.remove(note)
                state.kept = mayKeep(memory) ? (note, memory) : nil
            }
            return turns
        }
    }
}
