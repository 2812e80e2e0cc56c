import Foundation
import Ledger
import Logging
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Failing jobs", .timeLimit(.minutes(30)))
struct RunningFailureTests {
    private let folder: TemporaryFolder
    private let script = Script()
    private static let rule = "- { rule: R, in: inbox, do: [ { probe: { name: a } }, { probe: { name: b } } ] }"

    init() throws { folder = try TemporaryFolder() }

    private func bench(_ yaml: String = rule) throws -> Bench { try Bench(folder.path, script, rules: yaml) }

    private func processOne(_ bench: Bench, _ name: BytePath = "x") async throws -> JobRecord {
        try bench.write(BytePath("inbox").appending(name), "X")
        try await bench.process(name)
        return try await bench.onlyJob()
    }

    /// As `steward retry` does.
    private func retry(_ bench: Bench, _ job: JobRecord) async throws {
        var ready = job
        ready.state = .ready
        ready.attempts = 0
        ready.nextAttempt = nil
        let record = ready
        try await bench.ledger.write { transaction in
            try transaction.update(record)
            for step in try transaction.steps(of: record.id) where step.state == .intended {
                try transaction.clearIntent(step)
            }
        }
        await bench.runner.submit([(job.id, job.place, job.path)])
        await bench.runner.idle()
    }

    @Test("A transient failure waits, with its retry in the ledger, and resumes at that step after a restart")
    func transient() async throws {
        script.perform("b") { _, _ in throw Fault(.transient, "the disk is full") }
        let before = Timestamp.now()
        let first = try bench()
        var job = try await processOne(first)
        #expect(job.state == .waiting)
        #expect(job.attempts == 1)
        #expect(job.problem == "the disk is full")
        let next = try #require(job.nextAttempt)
        #expect(next > before)
        #expect(next < Timestamp.now().adding(seconds: 2))
        await first.runner.drain()
        script.perform("b") { _, _ in Receipt("b") }
        script.recover("b") { _, _ in .notDone }
        script.forget()
        job.nextAttempt = Timestamp.now()
        let due = job
        try await first.ledger.write { try $0.update(due) }
        let second = try bench()
        try await second.runner.start()
        await second.runner.idle()
        #expect(script.lines == ["recover b x", "perform b x"])
        #expect(try await second.onlyJob().state == .done)
        #expect(try await second.onlyJob().problem == nil)
    }

    @Test("A retried job no longer waits, so that its step is not mistaken for an interrupted one")
    func atWork() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: { probe: { name: a } } }")
        let ledger = bench.ledger
        // Only once: on a busy machine the job's own retry comes before the request below.
        let isFull = Flag()
        script.perform("a") { _, context in
            if isFull.claim() { throw Fault(.transient, "the disk is full") }
            let state = try await ledger.read { try $0.job(context.jobID)?.state }
            return Receipt("it is \(state?.rawValue ?? "gone")")
        }
        let job = try await processOne(bench)
        await bench.runner.submit([(job.id, job.place, job.path)])
        await bench.runner.idle()
        let step = try await bench.ledger.read { try $0.steps(of: job.id).first }
        #expect(step?.receipt?.contains("it is ready") == true)
    }

    @Test("A waiting job is retried at once on request")
    func askedFor() async throws {
        let isBusy = Flag()
        script.decide("a") { _ in
            if isBusy.claim() { throw Fault(.transient, "busy") }
        }
        let bench = try bench()
        let job = try await processOne(bench)
        #expect(job.state == .waiting)
        try await retry(bench, job)
        #expect(try await bench.onlyJob().state == .done)
    }

    @Test("Without a restart it is retried automatically at its time")
    func again() async throws {
        let first = Flag()
        script.perform("a") { _, _ in
            if first.claim() { throw Fault(.transient, "busy") }
            return Receipt("a")
        }
        let bench = try bench()
        _ = try await processOne(bench)
        try await waitUntil("it is done") { try await bench.onlyJob().state == .done }
        #expect(script.lines == ["perform a x", "recover a x", "perform a x", "perform b x"])
    }

    @Test("After a restart a retry waits for its time")
    func notYet() async throws {
        script.decide("a") { _ in throw Fault(.transient, "busy") }
        let first = try bench()
        var job = try await processOne(first)
        await first.runner.drain()
        job.nextAttempt = Timestamp.now().adding(seconds: 3600)
        let later = job
        try await first.ledger.write { try $0.update(later) }
        script.forget()
        let second = try bench()
        try await second.runner.start()
        await second.runner.idle()
        #expect(script.lines == [])
        #expect(await second.runner.status().waiting == 1)
        await second.runner.drain()
    }

    @Test("A refused file is quarantined with the reason as text and data, and comes back on request")
    func refused() async throws {
        let bench = try bench()
        script.decide("a") { input in throw Fault(.refused, "not a comic", path: input.file.absolute) }
        let job = try await processOne(bench, "sub/x.cbz")
        #expect(job.state == .refused)
        #expect(job.problem == "not a comic")
        let held = try await bench.ledger.read { try $0.quarantine() }
        let record = try #require(held.first)
        #expect(held.count == 1 && record.job == job.id && record.reason == "not a comic")
        #expect(try FileStatus.of(bench.path("inbox/sub/x.cbz")) == nil)
        #expect(try Descriptor(record.stored).readAll() == Array("X".utf8))
        let text = String(
            decoding: try Descriptor(record.stored.parent.appending("reason.txt")).readAll(), as: UTF8.self)
        #expect(text.contains("not a comic") && text.contains("inbox/sub/x.cbz"))
        #expect(text.contains("steward quarantine restore \(record.id)"))
        let data = Data(try Descriptor(record.stored.parent.appending("reason.json")).readAll())
        let json = try JSONDecoder().decode([String: String].self, from: data)
        #expect(
            json["reason"] == "not a comic" && json["job"] == job.id && json["rule"] == "R" && json["place"] == "inbox")
        #expect(try await bench.see("sub/x.cbz") == .known, "its going away is no news")
        #expect(try await bench.quarantine.putBack(record).absolute == bench.path("inbox/sub/x.cbz"))
        #expect(try bench.read("inbox/sub/x.cbz") == "X")
        #expect(try await bench.see("sub/x.cbz") == .known, "it would be refused at once again")
        #expect(try FileStatus.of(record.stored.parent) == nil)
        #expect(try await bench.ledger.read { try $0.quarantine(in: [.restored]).count } == 1)
    }

    @Test("A restored file takes another name if its own is taken")
    func restoreTaken() async throws {
        let bench = try bench()
        script.decide("a") { _ in throw Fault(.refused, "no") }
        _ = try await processOne(bench)
        let record = try #require(try await bench.ledger.read { try $0.quarantine() }.first)
        try bench.write("inbox/x", "new")
        #expect(try await bench.quarantine.putBack(record).absolute == bench.path("inbox/x (1)"))
        #expect(try bench.read("inbox/x") == "new")
    }

    @Test("A dropped file is removed with its reason")
    func drop() async throws {
        let bench = try bench()
        script.decide("a") { _ in throw Fault(.refused, "no") }
        _ = try await processOne(bench)
        let record = try #require(try await bench.ledger.read { try $0.quarantine() }.first)
        try await bench.quarantine.drop(record)
        #expect(try FileStatus.of(record.stored.parent) == nil)
        #expect(try await bench.ledger.read { try $0.quarantine() } == [])
    }

    @Test("A refused file with the name of a reason file keeps its bytes", arguments: ["reason.txt", "reason.json"])
    func reasonName(name: String) async throws {
        let bench = try bench()
        script.decide("a") { _ in throw Fault(.refused, "no") }
        _ = try await processOne(bench, BytePath(name))
        let record = try #require(try await bench.ledger.read { try $0.quarantine() }.first)
        #expect(try Descriptor(record.stored).readAll() == Array("X".utf8))
        #expect(try await bench.quarantine.putBack(record).absolute == bench.path("inbox").appending(name))
        #expect(try bench.read(BytePath("inbox/\(name)")) == "X")
    }

    @Test("With `refused: leave` the file stays in place")
    func leave() async throws {
        let bench = try bench("- { rule: R, in: inbox, refused: leave, do: { probe: { name: a } } }")
        script.decide("a") { _ in throw Fault(.refused, "no") }
        #expect(try await processOne(bench).state == .refused)
        #expect(try bench.read("inbox/x") == "X")
        #expect(try await bench.ledger.read { try $0.quarantine(in: [.moving, .held]) } == [])
    }

    @Test("A quarantine interrupted by a crash is completed at the next start")
    func quarantineCrash() async throws {
        let bench = try bench()
        try bench.write("inbox/x", "X")
        let stored = bench.path("quarantine/day/id/x")
        let record = QuarantineRecord(
            id: "id", job: "j", place: "inbox", path: "x", root: bench.path("inbox"), stored: stored, reason: "bad")
        try await bench.ledger.write { try $0.setQuarantine(record) }
        for _ in 0..<2 {
            try await bench.quarantine.recover(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            #expect(try Descriptor(stored).readAll() == Array("X".utf8))
            #expect(try FileStatus.of(bench.path("inbox/x")) == nil)
            #expect(try await bench.ledger.read { try $0.quarantine().map(\.id) } == ["id"])
        }
    }

    @Test("Other failures park the job with the reason; a retry resumes at the failed step")
    func parked() async throws {
        struct Odd: Error, CustomStringConvertible { let description = "odd" }
        let bench = try bench()
        script.perform("b") { _, _ in throw Odd() }
        let job = try await processOne(bench)
        #expect(job.state == .parked)
        #expect(job.problem == "odd")
        #expect(try bench.read("inbox/x") == "X")
        script.perform("b") { _, _ in Receipt("b") }
        try await retry(bench, job)
        #expect(script.lines == ["perform a x", "perform b x", "perform b x"])
        #expect(try await bench.onlyJob().state == .done)
    }

    @Test("A file that changed meanwhile is superseded, and nothing is done to it")
    func superseded() async throws {
        let bench = try bench()
        script.decide("a") { _ in throw Fault(.superseded, "has changed") }
        let job = try await processOne(bench)
        #expect(job.state == .superseded)
        #expect(script.lines == [])
        #expect(try bench.read("inbox/x") == "X")
    }

    @Test("One job's failure does not prevent the file's next job")
    func nextJob() async throws {
        let bench = try bench(
            "- { rule: R, in: inbox, do: { probe: { name: a } } }\n- { rule: S, in: inbox, do: { probe: { name: c } } }"
        )
        script.decide("a") { _ in throw Fault(.failed, "no") }
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        #expect(try await bench.jobs().map(\.state) == [.parked, .done])
    }

    @Test("An unknown outcome is parked, unless the rule says that repeating is safe")
    func unknown() async throws {
        script.recover("p") { _, _ in .unknown("cut off") }
        for (name, repeats) in [("once", ""), ("safe", "repeat: safe, ")] {
            let yaml = "- { rule: \(name), in: inbox, \(repeats)where: { name: \(name) }, do: { probe: {} } }"
            let first = try bench(yaml)
            try first.write(BytePath("inbox/\(name)"), name)
            try await first.see(BytePath(name))
            let jobs = try await first.jobs()
            let job = try #require(jobs.first { $0.rule == name })
            let intent = Probe.Intent(name: "p", text: "", file: first.path(BytePath("inbox/\(name)")), hash: job.hash)
            let text = String(decoding: try JSONEncoder().encode(intent), as: UTF8.self)
            try await first.ledger.write { try $0.setIntent(try #require(try $0.steps(of: job.id).first), text) }
            script.forget()
            let second = try bench(yaml)
            try await second.runner.start()
            await second.runner.idle()
            let found = try #require(try await second.ledger.read { try $0.job(job.id) })
            if repeats.isEmpty {
                #expect(found.state == .parked)
                #expect(found.problem?.contains("outcome unknown: cut off") == true)
                #expect(script.lines == ["recover p once"])
                try await retry(second, found)
                #expect(script.lines == ["recover p once", "perform p once"])
            } else {
                #expect(found.state == .done)
                #expect(script.lines == ["recover p safe", "perform p safe"])
            }
        }
    }

    @Test("An action removed in this version parks the job, and is named")
    func unknownAction() async throws {
        let bench = try bench()
        try bench.write("inbox/x", "X")
        try await bench.see("x")
        let job = try await bench.onlyJob()
        try await bench.ledger.write { transaction in
            var other = job
            other.id = "other"
            let step = StepRecord(job: "other", number: 0, action: "bygone", arguments: "{}", repeatSafe: false)
            _ = try transaction.addJob(other, steps: [step])
        }
        await bench.runner.submit([("other", "inbox", "x")])
        await bench.runner.idle()
        let found = try #require(try await bench.ledger.read { try $0.job("other") })
        #expect(found.state == .parked)
        #expect(found.problem?.contains("bygone") == true)
    }

    @Test("A part of a step counts at once; the step is decided again when its wait may be over")
    func part() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: { probe: { name: a } } }")
        script.perform("a") { intent, _ in
            let file = try Descriptor(intent.file)
            let hash = try ContentHash.of(file)
            var receipt = Receipt("half of it", effects: [.touched(intent.file, try file.status().fingerprint, hash)])
            receipt.wait = StepWait("x is open in nano", path: intent.file, isWatched: true)
            return receipt
        }
        let job = try await processOne(bench)
        #expect(job.state == .waiting && job.problem == "x is open in nano")
        let steps = try await bench.ledger.read { try $0.steps(of: job.id) }
        #expect(steps.map(\.state) == [.pending] && steps.first?.intent == nil)
        // Nothing has changed: it waits on.
        script.forget()
        await bench.runner.wake([job.id, "another"])
        await bench.runner.idle()
        #expect(script.lines.contains("perform a x"))
        script.perform("a") { _, _ in Receipt("the rest") }
        await bench.runner.wake([job.id])
        await bench.runner.idle()
        #expect(try await bench.onlyJob().state == .done)
    }

    @Test("A newer job of the rule for the file cancels a call about its earlier version")
    func staleCall() async throws {
        let bench = try bench("- { rule: R, in: inbox, on: [arrived, changed], do: { probe: { name: work } } }")
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let isFirst = Flag()
        script.perform("work") { _, context in
            try await context.whileCurrent {
                guard isFirst.claim() else { return Receipt("read") }
                begin.yield()
                let (never, end) = AsyncStream.makeStream(of: Void.self)
                defer { end.finish() }
                // Until it is cancelled.
                for await _ in never {}
                throw CancellationError()
            }
        }
        try bench.write("inbox/x", "old")
        await bench.submit(try await bench.see("x"))
        for await _ in begun { break }
        try bench.write("inbox/x", "new text")
        try await bench.process("x")
        #expect(try await Set(bench.jobs().map(\.state)) == [.done, .superseded])
        #expect(try await bench.jobs().count == 2)
        #expect(script.lines == ["perform work x", "perform work x"])
    }
}
