import AgentKit
import Foundation
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing
import Watching

/// Messages to the service manager while the agent works.
@Suite("Service manager notifications")
struct WatchdogTests {
    private let receiver: DatagramReceiver

    init() throws { receiver = try DatagramReceiver() }

    private func manager(_ more: [String: String] = [:]) -> SystemNotification {
        SystemNotification(
            environment: ["NOTIFY_SOCKET": receiver.path.text, "WATCHDOG_USEC": "60000"].merging(more) { $1 })
    }

    @Test("The watchdog is notified after each successful probe")
    func beats() async throws {
        let probes = Atomic<Int>(0)
        let watchdog = Watchdog(manager()) {
            probes.add(1, ordering: .relaxed)
            return true
        }
        #expect(watchdog.isWanted)
        let running = Task { await watchdog.run() }
        try await waitUntil("it has heard some") { receiver.texts.count >= 3 }
        running.cancel()
        await running.value
        #expect(receiver.texts.allSatisfy { $0 == "WATCHDOG=1" })
        #expect(probes.load(ordering: .relaxed) >= receiver.texts.count)
    }

    @Test(
        "A slow start gets more time as stages complete, but not for every stage")
    func longStart() async throws {
        let start = ContinuousClock.now
        func after(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }
        var work = LongWork(manager(), from: start)
        for part in 0..<100 { work.advanced(at: after(LongWork.pause * Double(part) / 100)) }
        work.advanced(at: after(LongWork.pause + 1))
        work.advanced(at: after(LongWork.pause + 2))
        // A slow operation.
        work.advanced(at: after(LongWork.pause * 5))
        let word = "EXTEND_TIMEOUT_USEC=\(LongWork.more * 1_000_000)"
        try await waitUntil("it has heard both") { receiver.texts.count >= 2 }
        #expect(receiver.texts == [word, word])
    }

    @Test("A probe that hangs, and one that finds the work stuck, send nothing")
    func silent() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let began = Atomic<Int>(0)
        let watchdog = Watchdog(manager()) {
            switch began.add(1, ordering: .relaxed).oldValue {
            case 0: return true
            case 1...5: return false
            default:
                for await _ in gate {}
                return true
            }
        }
        let running = Task { await watchdog.run() }
        try await waitUntil("a probe does not come back") { began.load(ordering: .relaxed) == 7 }
        #expect(receiver.texts == ["WATCHDOG=1"])
        running.cancel()
        open.finish()
        await running.value
    }

    @Test(
        "Nothing runs unless the watchdog is set for this process",
        arguments: [
            ["WATCHDOG_USEC": ""], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "soon"], ["WATCHDOG_PID": "1"],
            ["NOTIFY_SOCKET": ""],
        ])
    func unwanted(_ variables: [String: String]) async {
        #expect(!Watchdog(manager(variables)) { true }.isWanted)
    }

    @Test("The event thread's check-ins are noticed, and so is their absence")
    func owner() async throws {
        var options = WatchOptions()
        options.events = .calls
        let set = options
        let (working, ended) = try await BlockingPool("test").run {
            let source = try InotifySource(set)
            let working = source.turning(within: 60)
            source.stop()
            return (working, source.turning(within: 60))
        }
        #expect(working == .isTurning)
        #expect(ended == .isStuck)
    }

    @Test("The status line is sent when it changes, with several changes combined")
    func line() async throws {
        let text = Mutex("1 queued")
        let line = StatusLine(manager(), pause: .milliseconds(50)) { text.withLock { $0 } }
        for _ in 0..<100 { line.changed() }
        try await waitUntil("it is told") { receiver.texts == ["STATUS=1 queued"] }
        text.withLock { $0 = "2\u{1B}queued\nREADY=1" }
        for _ in 0..<100 { line.changed() }
        try await waitUntil("it is told anew") { receiver.texts.count == 2 }
        #expect(receiver.texts.last == #"STATUS=2\x1Bqueued\x0AREADY=1"#)
        line.close()
        line.changed()
        #expect(receiver.texts.count == 2)
    }
}
