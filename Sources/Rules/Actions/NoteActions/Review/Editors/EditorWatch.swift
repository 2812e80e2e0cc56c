import Platform
import Synchronization

/// Which jobs wait for editors, by draft. They are woken when an editor ends, when its lock or swap file goes or says
/// that everything is saved, and when another job of the draft has found that nothing waits any more.
package final class EditorWatch: Sendable {
    private typealias Jobs = [BytePath: [String: Set<EndWatch.Subject>]]

    /// Shared with the watch, which must not keep this alive.
    private final class Waiting: Sendable {
        let state = Mutex<(jobs: Jobs, wake: (@Sendable (Set<String>) -> Void)?)>(([:], nil))

        /// - Returns: whether it need not be watched any more.
        func changed(_ subject: EndWatch.Subject) -> Bool {
            if case .file(let path) = subject, !EditorWatch.isOver(path) { return !isAwaited(subject) }
            let (jobs, wake) = state.withLock { state in
                var woken: Set<String> = []
                for (draft, jobs) in state.jobs {
                    let ended = jobs.filter { $0.value.contains(subject) }.keys
                    for job in ended { state.jobs[draft]?[job] = nil }
                    if state.jobs[draft]?.isEmpty == true { state.jobs[draft] = nil }
                    woken.formUnion(ended)
                }
                return (woken, state.wake)
            }
            if !jobs.isEmpty { wake?(jobs) }
            return true
        }

        private func isAwaited(_ subject: EndWatch.Subject) -> Bool {
            state.withLock { $0.jobs.values.contains { $0.values.contains { $0.contains(subject) } } }
        }
    }

    private let waiting = Waiting()
    private let watch: EndWatch

    package init() {
        let waiting = waiting
        watch = EndWatch { waiting.changed($0) }
    }

    /// Sets what wakes jobs, by their ids; it must not block. Without it nothing is watched.
    package func tell(_ wake: @escaping @Sendable (Set<String>) -> Void) {
        waiting.state.withLock { $0.wake = wake }
    }

    /// The job waits until one of these signs on the draft or its sidecar is gone. Blocks.
    ///
    /// - Returns: whether it is woken then. If not, it has to look by itself.
    package func wait(_ job: String, for draft: BytePath, _ signs: [UnsavedSign]) -> Bool {
        guard waiting.state.withLock({ $0.wake != nil }) else { return false }
        let subjects = Set(signs.map(\.subject))
        waiting.state.withLock { $0.jobs[draft, default: [:]][job] = subjects }
        let areWatched = subjects.allSatisfy { watch.watch($0) }
        // It may have gone before it was watched.
        for case .file(let path) in subjects where Self.isOver(path) { _ = waiting.changed(.file(path)) }
        return areWatched
    }

    /// Nothing waits for an editor of the draft any more, as this job has found: others look again.
    package func end(_ draft: BytePath, besides job: String) {
        let (jobs, wake) = waiting.state.withLock { state in
            (Set((state.jobs.removeValue(forKey: draft) ?? [:]).keys).subtracting([job]), state.wake)
        }
        if !jobs.isEmpty { wake?(jobs) }
    }

    /// Whether a lock or swap file is gone, or says that everything is saved.
    private static func isOver(_ path: BytePath) -> Bool {
        let files = HeldFiles(below: [path.parent])
        do {
            guard try files.status(path) != nil else { return true }
            guard path.stemAndExtension.extension?.starts(with: "sw".utf8) == true else { return false }
            return try EditorSwap.read(path, files).map { !$0.isUnsaved } ?? true
        } catch {
            // The job looks for itself, and reports what is wrong.
            return true
        }
    }
}

extension UnsavedSign {
    fileprivate var subject: EndWatch.Subject {
        switch self {
        case .file(let path): .file(path)
        case .process(_, let id): .process(id)
        }
    }
}
