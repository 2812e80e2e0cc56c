import Ledger
import Platform
import Synchronization

/// Calls at work that are about one version of a file, such as those to a model. When a rule has a job for the next
/// version, its call about the earlier one is cancelled.
package final class CurrentCalls: Sendable {
    /// The calls of one job.
    package struct Line: Sendable {
        fileprivate let calls: CurrentCalls
        fileprivate let job: JobRecord
        /// The job's file, if it is in work.
        fileprivate let own: [BytePath]
        fileprivate let inWork: PathsInWork

        /// - Throws: errors of `body`; `Fault(.superseded)` if a newer job has cancelled it, once it has ended.
        func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
            let (ends, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let number = calls.add(Call(job: job, end: end))
            // The call writes nothing, so what happens to the file meanwhile is news, and is judged.
            inWork.end(own)
            defer {
                inWork.begin(own)
                calls.remove(number)
            }
            let stale = Fault(
                .superseded, "\(job.path.nameText) has changed, so a call about its earlier version was cancelled")
            return try await withThrowingTaskGroup(of: R?.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    for await _ in ends { return nil }
                    throw CancellationError()
                }
                defer { group.cancelAll() }
                guard let result = try await group.next() else { throw stale }
                if let result { return result }
                group.cancelAll()
                // It still has to record its cost.
                while await group.nextResult() != nil {}
                throw stale
            }
        }
    }

    fileprivate struct Call {
        let job: JobRecord
        let end: AsyncStream<Void>.Continuation
    }

    private let calls = Mutex<(last: Int, at: [Int: Call])>((0, [:]))

    package init() {}

    /// - Parameter own: the job's file, if the step has it in work.
    func line(of job: JobRecord, _ own: [BytePath], _ inWork: PathsInWork) -> Line {
        Line(calls: self, job: job, own: own, inWork: inWork)
    }

    private func add(_ call: Call) -> Int {
        calls.withLock { calls in
            calls.last += 1
            calls.at[calls.last] = call
            return calls.last
        }
    }

    private func remove(_ number: Int) { calls.withLock { _ = $0.at.removeValue(forKey: number) } }

    /// Cancels the calls about earlier versions of the files of these jobs.
    func end(madeStaleBy jobs: [PlannedJob]) {
        let stale = calls.withLock { calls in
            calls.at.isEmpty
                ? []
                : calls.at.values.filter { call in
                    jobs.contains {
                        $0.rule == call.job.rule && $0.place == call.job.place && $0.path == call.job.path
                            && $0.id != call.job.id && $0.loaded?.record.hash != call.job.hash
                    }
                }
        }
        for call in stale { call.end.yield() }
    }
}
