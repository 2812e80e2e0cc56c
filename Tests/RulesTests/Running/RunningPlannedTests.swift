import Ledger
import Platform
import TestSupport
import Testing

@testable import Rules

@Suite("Running planned jobs")
struct RunningPlannedTests {
    private let folder: TemporaryFolder
    private let bench: Bench

    init() throws {
        folder = try TemporaryFolder()
        bench = try Bench(
            folder.path, rules: "- rule: R\n  in: inbox\n  do:\n    - probe: { text: \"{{ file.name }}\" }\n")
    }

    /// Plans a job for `inbox/first.txt`, which is changed before it begins.
    ///
    /// - Returns: what its step did.
    private func run(changed change: @Sendable @escaping (LedgerTransaction, JobRecord) throws -> Void) async throws
        -> [String]
    {
        try bench.write("inbox/first.txt", "text")
        let verdict = try await bench.see("first.txt")
        let job = try await bench.onlyJob()
        try await bench.ledger.write { try change($0, job) }
        await bench.submit(verdict)
        await bench.runner.idle()
        return bench.script.lines
    }

    @Test("An unchanged job runs as planned")
    func unchanged() async throws {
        #expect(try await run { _, _ in } == ["perform p first.txt first.txt"])
        #expect(try await bench.onlyJob().state == .done)
    }

    @Test("A job whose values have changed since runs with the current ones")
    func changedValues() async throws {
        let lines = try await run { transaction, job in
            var job = job
            job.values = job.values.replacing("first.txt", with: "other.txt")
            try transaction.update(job)
        }
        #expect(lines == ["perform p first.txt other.txt"])
    }

    @Test("A job whose file has been moved since runs where the file is")
    func moved() async throws {
        let lines = try await run { transaction, job in
            var job = job
            job.file = job.file.replacing("first.txt", with: "second.txt")
            job.moved = JobRecord.FileLocation(place: job.place, path: "second.txt")
            try transaction.setFile(of: job)
        }
        #expect(lines == ["perform p second.txt first.txt"])
    }

    @Test("A job that has ended since is not run")
    func ended() async throws {
        let lines = try await run { transaction, job in
            var job = job
            job.state = .superseded
            try transaction.update(job)
        }
        #expect(lines == [])
        #expect(try await bench.onlyJob().state == .superseded)
    }

    @Test("A job with a step begun since is recovered first")
    func begun() async throws {
        try bench.write("inbox/first.txt", "text")
        let verdict = try await bench.see("first.txt")
        try await bench.begin(bench.onlyJob(), "p")
        await bench.submit(verdict)
        await bench.runner.idle()
        #expect(bench.script.lines == ["recover p first.txt", "perform p first.txt first.txt"])
    }

    @Test("When nothing is left to do, the ledger's log is checkpointed")
    func foldedAtRest() async throws {
        for number in 0..<40 {
            try bench.write(BytePath("inbox/\(number)"), "\(number)")
            try await bench.process(BytePath("\(number)"))
        }
        #expect(bench.script.lines.count == 40)
        try await waitUntil("the log is folded") { !bench.ledger.needsCheckpoint }
    }
}
