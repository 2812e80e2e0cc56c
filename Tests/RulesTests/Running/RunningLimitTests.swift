import Ledger
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

/// How many steps of one kind of work run at the same time.
@Suite("Limits for each kind of work") struct RunningLimitTests {
    let folder: TemporaryFolder
    let script = Script()

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "However many files wait for slow work, quick work is done, and everything continues after a pause",
        arguments: [0, 1])
    func slowWork(quickSteps: Int) async throws {
        // Slow from the beginning, or only after a quick step.
        let before = String(repeating: "{ probe: { name: first } }, ", count: quickSteps)
        let rules = """
            - { rule: Slow, in: inbox, where: { name: "s*" }, do: [\(before){ probe: { name: slow } }] }
            - { rule: Quick, in: inbox, where: { name: "q*" }, do: { probe: { name: quick } } }
            """
        let bench = try Bench(folder.path, script, rules: rules, maximumFiles: 48, window: 64)
        let crowd = Crowd()
        let isQuickDone = Mutex(false)
        // As many as may have begun: the quick one may be done before the second of them has.
        @Sendable func mayEnd() -> Bool { crowd.most >= Bench.slowLimit && isQuickDone.withLock { $0 } }
        script.perform("quick") { _, _ in
            isQuickDone.withLock { $0 = true }
            return Receipt("x")
        }
        script.perform("slow") { _, _ in
            crowd.enter()
            defer { crowd.leave() }
            try await waitUntil("the quick one is done", seconds: 600) { mayEnd() }
            return Receipt("x")
        }
        let slow = 150
        // Judging may be slow; the slow work waits only for the quick one.
        try await bench.runner.setPaused(true)
        for number in 0..<slow {
            try bench.write(BytePath("inbox/s\(number)"), "\(number)")
            await bench.submit(try await bench.see(BytePath("s\(number)")))
        }
        try bench.write("inbox/q", "q")
        await bench.submit(try await bench.see("q"))
        try await bench.runner.setPaused(false)
        try await waitUntil("the quick one is done") { mayEnd() }
        try await bench.runner.setPaused(true)
        await bench.runner.idle()
        #expect(await bench.runner.status().running == 0)
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        #expect(crowd.most == Bench.slowLimit)
        #expect(try await bench.ledger.read { try $0.jobCounts() } == ["done": slow + 1])
    }

    @Test("For each hanging call one more step may run, and no more")
    func hungCalls() async throws {
        let rules = """
            - { rule: Slow, in: inbox, do: { probe: { name: slow } } }
            """
        let bench = try Bench(folder.path, script, rules: rules, hungCalls: { 1 })
        let crowd = Crowd()
        let mayEnd = Mutex(false)
        script.perform("slow") { _, _ in
            crowd.enter()
            defer { crowd.leave() }
            try await waitUntil("it may end", seconds: 600) { mayEnd.withLock { $0 } }
            return Receipt("x")
        }
        for number in 0..<8 {
            try bench.write(BytePath("inbox/s\(number)"), "\(number)")
            await bench.submit(try await bench.see(BytePath("s\(number)")))
        }
        try await waitUntil("one more than the limit is at work") {
            bench.executor.makeRoom()
            return crowd.most > Bench.slowLimit
        }
        mayEnd.withLock { $0 = true }
        await bench.runner.idle()
        #expect(crowd.most == Bench.slowLimit + 1)
        #expect(try await bench.ledger.read { try $0.jobCounts() } == ["done": 8])
    }
}
