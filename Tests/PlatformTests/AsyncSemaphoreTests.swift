import Platform
import TestSupport
import Testing

@Suite("Async semaphore", .timeLimit(.minutes(30)))
struct AsyncSemaphoreTests {
    private typealias Waiter = Task<AsyncSemaphore.Permit?, Never>

    private static func waiter(for semaphore: AsyncSemaphore) -> Waiter { Task { try? await semaphore.acquire() } }

    /// The number of free permits; afterwards none is free.
    private static func drained(_ semaphore: AsyncSemaphore) -> Int {
        var count = 0
        while semaphore.acquireIfFree() != nil { count += 1 }
        return count
    }

    @Test("Whatever happens to a permit, it is returned once", arguments: [1, 2, 5])
    func comesBack(permits: Int) async throws {
        let semaphore = AsyncSemaphore(permits: permits)
        try await semaphore.withPermit { #expect(semaphore.waiting == 0) }
        await #expect(throws: Fault.self) { try await semaphore.withPermit { throw Fault(.failed, "x") } }
        let permit = try await semaphore.acquire()
        #expect(permit.isHeld)
        permit.release()
        permit.release()
        #expect(!permit.isHeld)
        #expect(Self.drained(semaphore) == permits)
        let cancelled = Task { try await semaphore.acquire() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(semaphore.waiting == 0)
    }

    @Test("A cancellation racing with a release loses no permit")
    func race() async throws {
        let semaphore = AsyncSemaphore(permits: 1)
        for _ in 0..<500 {
            let permit = try await semaphore.acquire()
            let waiter = Self.waiter(for: semaphore)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { permit.release() }
                group.addTask { waiter.cancel() }
            }
            await waiter.value?.release()
            let next = try #require(semaphore.acquireIfFree())
            next.release()
        }
    }

    @Test("Waiters get permits in order, and cancelled ones get none, as in a model")
    func model() async throws {
        var generator = SeededGenerator(for: "AsyncSemaphoreTests.model")
        for _ in 0..<30 {
            let permits = Int.random(in: 1...4, using: &generator)
            let semaphore = AsyncSemaphore(permits: permits)
            var held: [AsyncSemaphore.Permit] = []
            var waiters: [Waiter] = []
            for _ in 0..<60 {
                switch Int.random(in: 0..<5, using: &generator) {
                case 0, 1:
                    let waiter = Self.waiter(for: semaphore)
                    if held.count < permits {
                        held.append(try #require(await waiter.value))
                    } else {
                        waiters.append(waiter)
                        try await waitUntil("the task waits") { semaphore.waiting == waiters.count }
                    }
                case 2 where !waiters.isEmpty:
                    let waiter = waiters.remove(at: Int.random(in: waiters.indices, using: &generator))
                    waiter.cancel()
                    #expect(await waiter.value == nil)
                case 3 where !held.isEmpty, 4 where !held.isEmpty:
                    held.remove(at: Int.random(in: held.indices, using: &generator)).release()
                    if !waiters.isEmpty { held.append(try #require(await waiters.removeFirst().value)) }
                default: break
                }
                #expect(semaphore.waiting == waiters.count)
            }
            for permit in held { permit.release() }
            for waiter in waiters { await waiter.value?.release() }
            #expect(Self.drained(semaphore) == permits)
        }
    }
}
