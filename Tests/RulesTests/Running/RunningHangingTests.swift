import Dispatch
import Foundation
import Ledger
import Platform
import Rules
import TestSupport
import Testing

/// Each in a separate process: a hanging call affects everything that runs beside it.
@Suite("Steps begun where nothing responds any more", .timeLimit(.minutes(30)))
struct RunningHangingTests {
    private static let rules = """
        - { rule: Far, in: inbox, where: { name: far }, do: { probe: { name: far } } }
        - { rule: Other, in: inbox, where: { name: far }, do: { probe: { name: other } } }
        - { rule: Near, in: inbox, where: { name: near }, do: { probe: { name: near } } }
        """

    @Test(
        "A hanging step blocks neither the start nor other files, and continues when its call returns",
        arguments: [false, true])
    func step(isNotes: Bool) async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .success) {
            [folder = folder.path.text as String, isNotes = isNotes as Bool] in
            try await RunningHangingTests.live(BytePath(folder), hangingInNotes: isNotes)
        }
    }

    static func live(_ folder: BytePath, hangingInNotes isNotes: Bool) async throws {
        let script = Script()
        let first = try Bench(folder, script, rules: rules)
        for name in ["far", "near"] as [BytePath] {
            try first.write(BytePath("inbox").appending(name), name.text)
            try await first.see(name)
        }
        try await first.begin(try #require(try await first.jobs().first { $0.rule == "Far" }), "far")
        let (pool, gate) = (BlockingPool("silent", threads: 4, perBulkhead: true), DispatchSemaphore(value: 0))
        script.recover("far") { _, _ in
            // Code that writes notes makes its calls in their bulkhead.
            try await Bulkhead.$current.withValue(isNotes ? Bulkhead("the note n.md") : Bulkhead.current) {
                try await pool.run { gate.wait() }
            }
            return .notDone
        }
        let second = try Bench(folder, script, rules: rules)
        try await second.runner.start()
        try await waitUntil("the other file is dealt with") { await second.runner.status().running == 1 }
        #expect(script.lines == ["recover far far", "perform near near"])
        gate.signal()
        await second.runner.idle()
        #expect(
            script.lines == ["recover far far", "perform near near", "perform far far", "perform other far"],
            "the jobs of one file keep their order")
        #expect(try await second.jobs().map(\.state) == [.done, .done, .done])
    }

    @Test(
        "A hanging undo blocks neither the start, a place that is back, nor other files, and is completed once",
        arguments: [false, true])
    func undo(isLater: Bool) async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .success) {
            [folder = folder.path.text as String, isLater = isLater as Bool] in
            try await RunningHangingTests.live(BytePath(folder), undoHangingLater: isLater)
        }
    }

    static func live(_ folder: BytePath, undoHangingLater isLater: Bool) async throws {
        let script = Script()
        let rules = "- { rule: R, in: inbox, do: { probe: { name: p } } }"
        let first = try Bench(folder, script, rules: rules)
        try first.write("inbox/far", "far")
        try await first.process("far")
        let job = try await first.onlyJob()
        try await first.ledger.write { transaction in
            for step in try transaction.steps(of: job.id) { _ = try transaction.setUndoing(step, true) }
        }
        let (pool, gate) = (BlockingPool("silent", threads: 4, perBulkhead: true), DispatchSemaphore(value: 0))
        let hang: Script.Undo = { try await pool.run { gate.wait() } }
        if isLater { script.undo("p") { throw Fault(.transient, "the place is away") } } else { script.undo("p", hang) }
        let second = try Bench(folder, script, rules: rules)
        try await second.runner.start()
        if isLater {
            script.undo("p", hang)
            try await second.runner.takeUp()
        }
        try second.write("inbox/near", "near")
        try await second.process("near")
        #expect(script.lines.filter { $0 != "undo p" } == ["perform p far", "perform p near"])
        #expect(try await second.ledger.read { try $0.jobsBeingUndone() } == [job.id])
        gate.signal()
        try await waitUntil("it is undone") { try await second.ledger.read { try $0.job(job.id)?.state } == .undone }
        #expect(script.lines.count { $0 == "undo p" } == (isLater ? 2 : 1))
    }
}
