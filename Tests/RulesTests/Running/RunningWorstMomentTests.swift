import Dispatch
import Ledger
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Rules

/// People answer, retry, undo and pause when their request is in the ledger but the job's thread has not returned yet.
@Suite("Requests while a job's threads return", .timeLimit(.minutes(30)))
struct RunningWorstMomentTests {
    private let folder: TemporaryFolder
    private let script = Script()
    private static let count = Thoroughness.isWhole ? 2_500 : 60
    private static let rules = "- { rule: R, in: inbox, do: [ { probe: { name: a } }, { probe: { name: b } } ] }"

    init() throws { folder = try TemporaryFolder() }

    /// Runs code from within the log lines that report a job's end.
    private final class Moment: Sendable {
        private let state = Mutex((sign: "", act: (@Sendable () async throws -> Void)?.none))
        let failures = Mutex<[String]>([])
        let count = Mutex(0)

        func set(_ sign: String, _ act: @escaping @Sendable () async throws -> Void) {
            state.withLock { $0 = (sign, act) }
        }

        /// Blocks the thread until everything is done.
        func hear(_ line: String) {
            let (sign, act) = state.withLock { ($0.sign, $0.act) }
            guard let act, line.contains(sign) else { return }
            let isDone = DispatchSemaphore(value: 0)
            Task.detached {
                do { try await act() } catch { self.failures.withLock { $0.append("\(error)") } }
                isDone.signal()
            }
            isDone.wait()
            count.withLock { $0 += 1 }
        }
    }

    private func bench() async throws -> (Bench, Moment) {
        let moment = Moment()
        let bench = try Bench(folder.path, script, rules: Self.rules, onLog: { moment.hear($0) })
        try await bench.runner.start()
        return (bench, moment)
    }

    /// Makes the second step fail the first time for each file.
    private func failOnce(_ fault: @escaping @Sendable (StepContext) async throws -> Fault) {
        let seen = Mutex<Set<String>>([])
        script.perform("b") { intent, context in
            if seen.withLock({ $0.insert(intent.file.nameText).inserted }) { throw try await fault(context) }
            return Receipt("b")
        }
    }

    private func requireAllDone(_ bench: Bench, _ moment: Moment) async throws {
        await bench.runner.idle()
        #expect(moment.failures.withLock { $0 } == [])
        #expect(moment.count.withLock { $0 } == Self.count)
        #expect(try await bench.ledger.read { try $0.jobCounts() } == ["done": Self.count])
        #expect(script.lines.count { $0.hasPrefix("perform b") } == 2 * Self.count)
    }

    private func drop(_ bench: Bench) async throws {
        for number in 0..<Self.count {
            try bench.write(BytePath("inbox/\(number)"), "\(number)")
            await bench.submit(try await bench.see(BytePath("\(number)")))
        }
    }

    /// As `steward retry` does.
    private static func retry(_ bench: Bench, _ states: [JobRecord.State]) async throws {
        for job in try await bench.ledger.read({ try $0.jobs(in: states) }) {
            let isReady = try await bench.ledger.write { transaction in
                guard var ready = try transaction.job(job.id), states.contains(ready.state) else { return false }
                (ready.state, ready.attempts, ready.nextAttempt) = (.ready, 0, nil)
                try transaction.update(ready)
                for step in try transaction.steps(of: job.id) where step.state == .intended {
                    try transaction.clearIntent(step)
                }
                return true
            }
            if isReady { await bench.runner.submit([(job.id, job.place, job.path)]) }
        }
    }

    @Test("A retry is not missed when a job has just failed", arguments: [Fault.Kind.failed, .transient])
    func retried(kind: Fault.Kind) async throws {
        let (bench, moment) = try await bench()
        failOnce { _ in Fault(kind, "it does not work") }
        moment.set(kind == .failed ? "parked: it does not work" : "it does not work; trying again later") {
            try await Self.retry(bench, [.parked, .waiting])
        }
        try await drop(bench)
        try await requireAllDone(bench, moment)
    }

    @Test("A yes is not missed when a job has just asked", arguments: [nil, 3_600.0])
    func confirmed(timeout: Double?) async throws {
        let (bench, moment) = try await bench()
        failOnce { context in
            try await bench.ledger.write { transaction in
                try transaction.addQuestion(
                    QuestionRecord(
                        step: context.stepID, job: context.jobID, text: "Really?", asked: .now(),
                        until: timeout.map { Timestamp.now().adding(seconds: $0) }))
            }
            return Fault(.failed, "it asks: really?", code: Fault.unanswered)
        }
        script.recover("b") { _, _ in .notDone }
        moment.set("it asks: really?") {
            for (question, _) in try await bench.ledger.read({ try $0.openQuestions() }) {
                let job = try await bench.ledger.write { try $0.answer(question, .confirmed, "yes") }
                if let job, job.state == .ready { await bench.runner.submit([(job.id, job.place, job.path)]) }
            }
        }
        try await drop(bench)
        try await requireAllDone(bench, moment)
    }

    @Test("A pause and its end just after a failure, with a retry in between, lose nothing")
    func paused() async throws {
        let (bench, moment) = try await bench()
        failOnce { _ in Fault(.failed, "it does not work") }
        moment.set("parked: it does not work") {
            try await bench.runner.setPaused(true)
            try await Self.retry(bench, [.parked])
            try await bench.runner.setPaused(false)
        }
        try await drop(bench)
        try await requireAllDone(bench, moment)
    }

    @Test("An undo that cannot continue yet, requested just after the job was done, is completed")
    func undone() async throws {
        let (bench, moment) = try await bench()
        let seen = Mutex(0)
        script.undo("a") {
            // Each fails once.
            let isOdd = seen.withLock { seen in
                seen += 1
                return seen <= Self.count
            }
            if isOdd { throw Fault(.transient, "the note is open") }
        }
        let begun = Mutex<Set<String>>([])
        moment.set("probe: did b") {
            for job in try await bench.ledger.read({ try $0.jobs(in: [.done]) })
            where begun.withLock({ $0.insert(job.id).inserted }) {
                do { _ = try await bench.executor.undo(job.id) } catch let fault as Fault where fault.kind == .transient
                {}
            }
        }
        try await drop(bench)
        await bench.runner.idle()
        #expect(moment.failures.withLock { $0 } == [])
        try await waitUntil("all are undone") {
            try await bench.ledger.read { try $0.jobCounts() } == ["undone": Self.count]
        }
    }

    @Test("An undo that cannot continue yet, of a job waiting for an answer with a deadline, is completed")
    func undoneWhileAsking() async throws {
        let (bench, _) = try await bench()
        script.perform("b") { _, context in
            try await bench.ledger.write { transaction in
                try transaction.addQuestion(
                    QuestionRecord(
                        step: context.stepID, job: context.jobID, text: "Really?", asked: .now(),
                        until: Timestamp.now().adding(seconds: 3_600)))
            }
            throw Fault(.failed, "it asks: really?", code: Fault.unanswered)
        }
        let fails = Mutex(true)
        script.undo("a") {
            if fails.withLock({ fails in
                defer { fails = false }; return fails
            }) {
                throw Fault(.transient, "the note is open")
            }
        }
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        let job = try await bench.onlyJob()
        #expect(job.state == .asking)
        await #expect(throws: Fault.self) { try await bench.executor.undo(job.id) }
        try await waitUntil("it is undone") { try await bench.onlyJob().state == .undone }
    }
}
