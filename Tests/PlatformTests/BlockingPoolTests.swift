import Dispatch
import Foundation
import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Thread pools for blocking calls", .timeLimit(.minutes(30)))
struct BlockingPoolTests {
    @Test("The pool continues while more calls block than it has threads")
    func poolIsFree() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount * 2 + 2
        let pool = BlockingPool("test", threads: count)
        let gate = DispatchSemaphore(value: 0)
        let inside = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await pool.run {
                        inside.enter()
                        gate.wait()
                    }
                }
            }
            // Everything below runs on the pool, which would be impossible if the calls occupied its threads.
            try await waitUntil("all calls block") { inside.most == count }
            let sum = await withTaskGroup(of: Int.self) { tasks in
                for number in 0..<100 { tasks.addTask { number } }
                return await tasks.reduce(0, +)
            }
            #expect(sum == 4950)
            for _ in 0..<count { gate.signal() }
            try await group.waitForAll()
        }
    }

    @Test("A long call delays nothing while another thread is idle")
    func least() async throws {
        let pool = BlockingPool("test", threads: 2)
        let (begun, gate) = (Tally(), DispatchSemaphore(value: 0))
        async let long: Void = pool.run {
            begun.enter()
            gate.wait()
        }
        try await waitUntil("the long call has begun") { begun.most == 1 }
        var sum = 0
        for number in 0..<20 { sum += try await pool.run { number } }
        #expect(sum == 190)
        gate.signal()
        try await long
    }

    @Test("Work started on a bulkhead runs on its threads, and the continuation does not")
    func started() async throws {
        let whose = Bulkhead("started")
        let (inside, after): (Bool, Bool) = await withCheckedContinuation { continuation in
            BlockingPool.start(for: whose) {
                BlockingPool.isCurrent(isolation: nil) && Bulkhead.current == whose
            } then: { inside in
                continuation.resume(returning: (inside, BlockingPool.isCurrent(isolation: nil)))
            }
        }
        #expect(inside)
        #expect(!after)
    }

    @Test("A pool with one thread runs one thing after the other")
    func serial() async throws {
        let pool = BlockingPool("serial")
        let running = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await pool.run {
                        running.enter()
                        running.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(running.most == 1)
    }

    @Test("Hanging calls delay nobody else, are reported, and refuse later ones until they return")
    func hanging() async throws {
        let pool = BlockingPool("test", threads: 2, perBulkhead: true)
        let (silent, well) = (Bulkhead("the place silent"), Bulkhead("the place well"))
        let (begun, gate) = (Tally(), DispatchSemaphore(value: 0))
        // Not for long: only hanging calls are given up, not slow ones.
        #expect(try await outcome(unlessHung: well) { try await Task.sleep(for: .milliseconds(600)) } != nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await Bulkhead.$current.withValue(silent) {
                        try await pool.run {
                            begun.enter()
                            gate.wait()
                        }
                    }
                }
            }
            try await waitUntil("both calls have begun") { begun.most == 2 }
            let given = Task { try await outcome(unlessHung: silent) { await Self.never() } }
            #expect(try await Bulkhead.$current.withValue(well) { try await pool.run { 2 } } == 2)
            #expect(!HangWatch.shared.hangs(for: silent))
            #expect(try await given.value == nil)
            // Until the second call counts as hanging, too, a thread in place of the first one's takes calls.
            var refusal: Fault?
            try await waitUntil("a call is refused") {
                do {
                    _ = try await Bulkhead.$current.withValue(silent) { try await pool.run { 1 } }
                } catch let fault as Fault {
                    refusal = fault
                }
                return refusal != nil
            }
            // Not begun, so it may be retried.
            #expect(refusal?.kind == .transient)
            #expect(refusal?.code == Fault.hanging)
            #expect(HangWatch.shared.hangs.filter { $0.whose == silent.label }.count == 1)
            #expect(HangWatch.shared.hangs.allSatisfy { $0.whose != well.label })
            gate.signal()
            gate.signal()
            try await group.waitForAll()
        }
        #expect(!HangWatch.shared.hangs(for: silent))
        #expect(try await Bulkhead.$current.withValue(silent) { try await pool.run { 3 } } == 3)
    }

    private static func never() async { try? await Task.sleep(for: .seconds(86_400)) }

    @Test("Long work is not mistaken for a hanging call")
    func busy() async throws {
        let pool = BlockingPool("test", threads: 1, perBulkhead: true)
        let whose = Bulkhead("the place busy")
        let isHung = try await Bulkhead.$current.withValue(whose) {
            try await pool.run { () -> Bool in
                let end = ContinuousClock.now.advanced(by: .seconds(HangWatch.threshold * 1.5))
                var found = false
                while ContinuousClock.now < end {
                    usleep(20_000)
                    found = found || HangWatch.shared.hangs(for: whose)
                }
                return found
            }
        }
        #expect(!isHung)
    }

    @Test("In a debug build of the agent a blocking call traps on the cooperative pool, and nowhere else")
    func trapped() async {
        await #expect(processExitsWith: .failure) {
            Blocking.forbidOnPool()
            let folder = try Folder(Descriptor(".", O_RDONLY | O_DIRECTORY))
            _ = await Task.detached { try? folder.entries() }.value
        }
        await #expect(processExitsWith: .success) {
            Blocking.forbidOnPool()
            _ = try await BlockingPool("test").run { try Folder(Descriptor(".", O_RDONLY | O_DIRECTORY)).entries() }
        }
    }

    @Test("Calls that do not return are not waited for")
    func unanswered() async throws {
        let gate = DispatchSemaphore(value: 0)
        #expect(try await answer(within: 0.1) { gate.wait() } == nil)
        gate.signal()
        #expect(try await answer(within: 60) { 7 } == 7)
        await #expect(throws: Fault.self) { try await answer(within: 60) { throw Fault(.failed, "x") } }
    }

    @Test("Errors reach the caller, and the pool continues")
    func throwing() async throws {
        let pool = BlockingPool("throwing")
        await #expect(throws: Fault.self) { try await pool.run { throw Fault(.failed, "x") } }
        #expect(try await pool.run { 7 } == 7)
    }
}

/// How many are inside, and the maximum so far.
private final class Tally: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    func enter() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func leave() { counts.withLock { $0.now -= 1 } }
    var most: Int { counts.withLock { $0.most } }
}
