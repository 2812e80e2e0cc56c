import Platform
import Synchronization

/// A serial queue per note, in order of request. Requests that arrive during a turn are served together in the next;
/// other notes proceed independently.
///
/// `Memory` is passed from one turn to the next. Not an actor, because each block passes through and would change
/// threads.
final class NoteTurns<NoteOperation: Sendable, Answer: Sendable, Memory: Sendable>: Sendable {
    /// A caller waiting for an answer.
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

    /// Answers each turn at any time before it returns. Unanswered turns get the error that it throws.
    typealias Work = @concurrent @Sendable (_ note: BytePath, _ turns: [Turn], _ memory: Memory) async throws -> Void

    private struct State {
        var waiting: [BytePath: [Turn]] = [:]
        var atWork: Set<BytePath> = []
        /// Memory of the note whose work ended last.
        var kept: (note: BytePath, memory: Memory)?
    }

    private let makeMemory: @Sendable () -> Memory
    private let mayKeep: @Sendable (Memory) -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - memory: creates the memory of a note that has none.
    ///   - mayKeep: whether it is small enough to keep while no caller waits for the note; dropped when another note
    ///     comes.
    init(
        memory: @escaping @Sendable () -> Memory, mayKeep: @escaping @Sendable (Memory) -> Bool = { _ in false }
    ) {
        makeMemory = memory
        self.mayKeep = mayKeep
    }

    /// Waits for the note's turn and then for the answer.
    ///
    /// - Parameter work: the same in all calls; runs in the note's own bulkhead.
    /// - Throws: errors of the work; `Fault(.transient)` immediately if the note's file system hangs.
    func enqueue(_ wish: NoteOperation, on note: BytePath, work: @escaping Work) async throws -> Answer {
        let whose = Bulkhead("the note \(note)")
        if HangWatch.shared.hangs(for: whose) {
            throw Fault(
                .transient, "\(note) has to wait: its file system does not respond", path: note, code: Fault.hanging)
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

    /// Number of callers waiting for the note's next turn.
    func waits(on note: BytePath) -> Int { state.withLock { $0.waiting[note]?.count ?? 0 } }

    /// Whether no work is in flight.
    var isAtRest: Bool { state.withLock(\.atWork.isEmpty) }

    private func serve(_ note: BytePath, _ work: Work) async {
        let memory = keptMemory(of: note) ?? makeMemory()
        while let turns = next(on: note, memory) {
            do {
                try await work(note, turns, memory)
                let forgotten = Fault(.failed, "a request for \(note) was not answered", path: note)
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

    /// The callers waiting for the note; if there are none, releases the note and returns nil.
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
