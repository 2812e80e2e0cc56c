import Ledger
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

@Suite("Running jobs", .timeLimit(.minutes(30)))
struct RunningRunnerTests {
    private let folder: TemporaryFolder
    private let script = Script()

    init() throws { folder = try TemporaryFolder() }

    private func bench(_ yaml: String) throws -> Bench { try Bench(folder.path, script, rules: yaml) }

    @Test("Steps run in order, and each can use the results of earlier ones")
    func steps() async throws {
        let bench = try bench(
            """
            - { rule: R, in: inbox, do: [ { probe: { name: a } }, { probe: { name: b, text: "{{ probe.out }}" } },
                { probe: { name: c, text: "{{ probe.out }} {{ file.name }}" } } ] }
            """)
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        #expect(script.lines == ["perform a x", "perform b x out of a", "perform c x out of b x"])
        let job = try await bench.onlyJob()
        #expect(job.state == .done)
        #expect(job.problem == nil)
        #expect(try await bench.ledger.read { try $0.steps(of: job.id).map(\.state) } == [.done, .done, .done])
    }

    @Test("The jobs of one file run one after the other, in the order of the rules")
    func oneFile() async throws {
        let bench = try bench(
            (1...5).map {
                "- { rule: R\($0), in: inbox, do: [ { probe: { name: a\($0) } }, { probe: { name: b\($0) } } ] }"
            }
            .joined(separator: "\n"))
        let inside = Crowd()
        for number in 1...5 {
            script.perform("a\(number)") { _, _ in
                #expect(inside.enter() == 1)
                for _ in 0..<20 { await Task.yield() }
                inside.leave()
                return Receipt("a")
            }
        }
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        #expect(script.lines == (1...5).flatMap { ["perform a\($0) x", "perform b\($0) x"] })
    }

    @Test("Jobs of different files run in parallel")
    func manyFiles() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: { probe: { name: arrive } } }")
        let barrier = Barrier(4)
        script.perform("arrive") { _, _ in
            // Returns only when four have arrived; run one after the other they would wait forever.
            await barrier.arrive()
            return Receipt("arrived")
        }
        for number in 0..<4 { try bench.write(BytePath("inbox/\(number)"), "\(number)") }
        for number in 0..<4 { await bench.submit(try await bench.see(BytePath("\(number)"))) }
        await bench.runner.idle()
        #expect(try await bench.jobs().map(\.state) == [.done, .done, .done, .done])
    }

    @Test("No more files are worked on at the same time than allowed")
    func limit() async throws {
        let bench = try Bench(
            folder.path, script, rules: "- { rule: R, in: inbox, do: { probe: {} } }", maximumFiles: 2)
        let crowd = Crowd()
        script.perform("p") { _, _ in
            crowd.enter()
            // The first waits for a second, otherwise this would look like one at a time.
            try await waitUntil("there are two") { crowd.most > 1 }
            for _ in 0..<20 { await Task.yield() }
            crowd.leave()
            return Receipt("x")
        }
        for number in 0..<12 {
            try bench.write(BytePath("inbox/\(number)"), "\(number)")
            await bench.submit(try await bench.see(BytePath("\(number)")))
        }
        await bench.runner.idle()
        #expect(crowd.most == 2)
        #expect(try await bench.ledger.read { try $0.jobCounts() } == ["done": 12])
    }

    @Test("A step learns when its file arrived, however late it runs")
    func arrival() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: { probe: {} } }")
        let told = Mutex<[Timestamp]>([])
        script.decide("p") { input in told.withLock { $0.append(input.arrival) } }
        try bench.write("inbox/x", "X")
        let verdict = try await bench.see("x")
        let arrived = try await bench.onlyJob().arrived
        await bench.submit(verdict)
        await bench.runner.idle()
        #expect(told.withLock { $0 } == [arrived])
    }

    @Test("Each kind of work runs up to its limit, and no further, however many files there are")
    func limitOfWork() async throws {
        let bench = try Bench(folder.path, script, rules: "- { rule: R, in: inbox, do: { probe: {} } }")
        let crowd = Crowd()
        script.perform("p") { _, _ in
            crowd.enter()
            try await waitUntil("there are as many as may be") { crowd.most >= Bench.limit }
            for _ in 0..<20 { await Task.yield() }
            crowd.leave()
            return Receipt("x")
        }
        try await bench.runner.setPaused(true)
        for number in 0..<40 {
            try bench.write(BytePath("inbox/\(number)"), "\(number)")
            await bench.submit(try await bench.see(BytePath("\(number)")))
        }
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        #expect(crowd.most == Bench.limit)
        #expect(try await bench.ledger.read { try $0.jobCounts() } == ["done": 40])
    }

    @Test(
        "However many files of one rule are running or waiting, those of others are processed, all in order",
        arguments: [1, 4])
    func shareOfRule(share: Int) async throws {
        let rules = """
            - { rule: Many, in: inbox, where: { name: "m*" }, do: { probe: { name: long } } }
            - { rule: Few, in: inbox, where: { name: "f*" }, do: { probe: { name: short } } }
            - { rule: Other, in: inbox, where: { name: "o*" }, do: { probe: { name: other } } }
            """
        let bench = try Bench(folder.path, script, rules: rules, maximumFiles: 2 * share, share: share, window: 16)
        let crowd = Crowd()
        let areFewDone = Mutex(false)
        script.perform("short") { intent, _ in
            if intent.file.nameText == "f4" { areFewDone.withLock { $0 = true } }
            return Receipt("x")
        }
        script.perform("long") { _, _ in
            crowd.enter()
            try await waitUntil("those of the other rule are done") { areFewDone.withLock { $0 } }
            crowd.leave()
            return Receipt("x")
        }
        try await bench.runner.setPaused(true)
        for name in (0..<60).map({ "m\($0)" }) + (0..<5).map({ "f\($0)" }) + (0..<40).map({ "o\($0)" }) {
            try bench.write(BytePath("inbox/\(name)"), name)
            await bench.submit(try await bench.see(BytePath(name)))
        }
        try await bench.runner.setPaused(false)
        try await waitUntil("those of the other rule are done") { areFewDone.withLock { $0 } }
        try await bench.runner.setPaused(true)
        await bench.runner.idle()
        #expect(await bench.runner.status().running == 0)
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        #expect(crowd.most == share)
        #expect(try await bench.ledger.read { try $0.jobCounts() } == ["done": 105])
        let begun = script.lines.filter { $0.hasPrefix("perform long") }.map { String($0.split(separator: " ")[2]) }
        if share == 1 { #expect(begun == (0..<60).map { "m\($0)" }) } else { #expect(Set(begun).count == 60) }
    }

    @Test("Of many jobs few are in memory; all run, those of one file in order, even after a restart")
    func window() async throws {
        let yaml = "- { rule: R, in: inbox, on: [arrived, changed], do: { probe: { text: \"{{ file.size }}\" } } }"
        func bench() throws -> Bench {
            try Bench(folder.path, script, rules: yaml, maximumFiles: 1, window: 3)
        }
        let first = try bench()
        try await first.runner.setPaused(true)
        for round in 1...4 {
            for name in ["a", "b", "c", "d", "e"] {
                try first.write(BytePath("inbox/\(name)"), String(repeating: "x", count: round))
                await first.submit(try await first.see(BytePath(name)))
            }
        }
        #expect(await first.runner.status().queued == 20)
        try await first.runner.setPaused(false)
        await first.runner.idle()
        let counts = try await first.ledger.read { try $0.jobCounts() }
        #expect(counts["ready"] == nil && counts.values.reduce(0, +) == 20, "\(counts)")

        try await first.runner.setPaused(true)
        for number in 0..<20 {
            try first.write(BytePath("inbox/n\(number)"), "\(number)")
            await first.submit(try await first.see(BytePath("n\(number)")))
        }
        await first.runner.drain()
        script.forget()
        let second = try bench()
        try await second.runner.start()
        try await second.runner.setPaused(false)
        await second.runner.idle()
        #expect(
            script.lines == (0..<20).map { "perform p n\($0) \($0 < 10 ? 1 : 2)" }, "in the order in which they came")
        #expect(try await second.ledger.read { try $0.jobCounts() }["ready"] == nil)
    }

    @Test("A job waiting for its retry does not let two others of its file run at once")
    func orderAfterFailure() async throws {
        let bench = try bench("- { rule: R, in: inbox, on: [arrived, changed], do: { probe: {} } }")
        let inside = Crowd()
        let first = Flag()
        script.perform("p") { _, _ in
            if first.claim() { throw Fault(.transient, "busy") }
            #expect(inside.enter() == 1)
            for _ in 0..<50 { await Task.yield() }
            inside.leave()
            return Receipt("x")
        }
        for round in 0..<30 {
            try bench.write("inbox/x", "\(round)")
            await bench.submit(try await bench.see("x"))
        }
        try await waitUntil("all are done") { try await bench.ledger.read { try $0.jobCounts() } == ["done": 30] }
    }

    @Test("While paused nothing begins, even after a restart, and everything begins when the pause ends")
    func pause() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: { probe: {} } }")
        try await bench.runner.setPaused(true)
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        #expect(script.lines == [])
        #expect(await bench.runner.status().queued == 1)
        let next = try Bench(folder.path, script, rules: "- { rule: R, in: inbox, do: { probe: {} } }")
        try await next.runner.start()
        await next.runner.idle()
        #expect(await next.runner.status().paused)
        #expect(script.lines == [])
        try await next.runner.setPaused(false)
        await next.runner.idle()
        #expect(script.lines == ["perform p x"])
        #expect(try await next.onlyJob().state == .done)
    }

    @Test("Draining ends after the running step; the next start continues with the one after it")
    func drain() async throws {
        let yaml = """
            - { rule: R, in: inbox, do: [ { probe: { name: a } }, { probe: { name: b } } ] }
            - { rule: other, in: out, do: { probe: { name: other } } }
            """
        let bench = try bench(yaml)
        let began = Barrier(2)
        let goOn = Barrier(2)
        script.perform("a") { _, _ in
            await began.arrive()
            await goOn.arrive()
            return Receipt("a")
        }
        try bench.write("inbox/x", "X")
        await bench.submit(try await bench.see("x"))
        await began.arrive()
        // `drain` waits for the step, so it is released only when another job shows that nothing new begins.
        async let drained: Void = bench.runner.drain()
        var number = 0
        try await waitUntil("nothing begins any more") {
            number += 1
            let name = BytePath("other \(number)")
            try bench.write(BytePath("out").appending(name), "\(number)")
            await bench.submit(try await bench.see(name, in: "out"))
            return await bench.runner.status().queued > 0
        }
        await goOn.arrive()
        await drained
        func lines() -> [String] { script.lines.filter { !$0.hasPrefix("perform other") } }
        #expect(lines() == ["perform a x"])
        let id = try #require(try await bench.jobs().first { $0.rule == "R" }).id
        #expect(try await bench.ledger.read { try $0.job(id)?.state } == .ready)
        let next = try Bench(folder.path, script, rules: yaml)
        try await next.runner.start()
        await next.runner.idle()
        #expect(lines() == ["perform a x", "perform b x"])
        #expect(try await next.jobs().allSatisfy { $0.state == .done })
    }

    @Test("A job follows the rule as it is when it runs, with the values read when it was planned")
    func plannedArguments() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: { probe: { text: \"before {{ file.name }}\" } } }")
        try bench.write("inbox/x", "X")
        try await bench.see("x")
        let next = try Bench(
            folder.path, script, rules: "- { rule: R, in: inbox, do: { probe: { text: \"after {{ file.name }}\" } } }")
        try await next.runner.start()
        await next.runner.idle()
        #expect(script.lines == ["perform p x after x"])
    }

    @Test("The file of a running step is not judged until its receipt is in the ledger")
    func inWork() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: { probe: { name: work } } }")
        let seen = Crowd()
        script.perform("work") { intent, _ in
            if try await bench.see("x") == .again { seen.enter() }
            return Receipt("worked")
        }
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        #expect(seen.most == 1)
        #expect(!bench.inWork.contains(bench.path("inbox/x")))
        #expect(try await bench.see("x") == .known)
    }

    @Test("A job submitted twice runs once")
    func twice() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: { probe: {} } }")
        try bench.write("inbox/x", "X")
        let verdict = try await bench.see("x")
        await bench.submit(verdict)
        await bench.submit(verdict)
        await bench.runner.idle()
        await bench.submit(verdict)
        await bench.runner.idle()
        #expect(script.lines == ["perform p x"])
    }

    @Test("Undo reverses the steps, the last one first")
    func undo() async throws {
        let bench = try bench("- { rule: R, in: inbox, do: [ { probe: { name: a } }, { probe: { name: b } } ] }")
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        script.forget()
        let job = try await bench.onlyJob()
        #expect(try await bench.executor.undo(job.id) == ["probe: took back b", "probe: took back a"])
        #expect(script.lines == ["undo b", "undo a"])
        #expect(try await bench.onlyJob().state == .undone)
    }
}

/// How many are inside, and the maximum so far.
final class Crowd: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    /// Returns how many are inside now.
    @discardableResult
    func enter() -> Int {
        counts.withLock { counts in
            counts = (counts.now + 1, max(counts.most, counts.now + 1))
            return counts.now
        }
    }

    func leave() { counts.withLock { $0.now -= 1 } }
}

/// True for the first caller.
final class Flag: Sendable {
    private let isClaimed = Mutex(false)

    func claim() -> Bool {
        isClaimed.withLock { claimed in
            defer { claimed = true }
            return !claimed
        }
    }
}

/// Blocks until `count` callers have arrived.
actor Barrier {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { missing = count }

    func arrive() async {
        missing -= 1
        if missing <= 0 {
            for waiter in waiting { waiter.resume() }
            waiting = []
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }
}
