import Glibc
import Synchronization

/// Detects system calls that do not return, because a server is gone or the program behind a file system has stopped. A
/// call hangs if its thread has used no CPU time for ``threshold``; reading a large file slowly uses some.
///
/// Nothing runs while no call is open.
package final class HangWatch: Sendable {
    /// One per process, like the kernel it watches.
    package static let shared = HangWatch()

    /// A call that has not returned.
    package struct Hang: Sendable, Hashable {
        /// On whose behalf it was made, for people: `the place comics`.
        package let whose: String
        package let since: Timestamp

        /// For the log, `status` and `doctor`.
        package var message: String {
            "\(whose): a file system does not respond: a call made at \(since) has not returned; check whether its disk, "
                + "server or program is still running. Everything else continues, and so does this when it responds"
        }
    }

    private struct Call {
        let whose: Bulkhead?
        let began: Timestamp
        let clock: clockid_t
        let changed: @Sendable (_ isHung: Bool) -> Void
        var used: Int64
        /// How many consecutive checks found that its thread had used no CPU time.
        var idleLooks = 0
        var isHung: Bool { idleLooks >= HangWatch.looks }
    }

    private struct State {
        var calls: [Int: Call] = [:]
        var next = 0
        var isLooking = false
        var listener: (@Sendable (Hang, _ hasBegun: Bool) -> Void)?
        var reminder: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Seconds after which a call counts as hanging.
    package static let threshold = 10.0
    /// Counted in checks, not by the clock, so that after the process itself was stopped its calls do not count as
    /// hanging.
    private static let looks = 4

    private init() {}

    /// Sets a listener, called when the first call for a bulkhead hangs, and when none hangs any more.
    package func listen(_ listener: @escaping @Sendable (Hang, _ hasBegun: Bool) -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Sets a reminder, called every few seconds while any call hangs; must not block.
    package func remind(_ reminder: @escaping @Sendable () -> Void) {
        state.withLock { $0.reminder = reminder }
    }

    /// The hanging calls, one per bulkhead; sorted.
    package var hangs: [Hang] {
        let hung = state.withLock { $0.calls.values.filter(\.isHung) }
        let oldest = Dictionary(grouping: hung, by: \.whose).values.compactMap { $0.min { $0.began < $1.began } }
        return oldest.map(Self.hang).sorted { $0.whose < $1.whose }
    }

    /// The number of hanging calls.
    package var hungCalls: Int { state.withLock { $0.calls.values.count(where: \.isHung) } }

    package func hangs(for whose: Bulkhead) -> Bool {
        state.withLock { $0.calls.values.contains { $0.whose == whose && $0.isHung } }
    }

    private static func hang(_ call: Call) -> Hang { Hang(whose: call.whose?.label ?? "the agent", since: call.began) }

    /// Runs `work` on this thread, watched.
    ///
    /// - Parameter changed: called when this call hangs, and when it returns after all.
    func watching<R>(
        _ whose: Bulkhead?, changed: @escaping @Sendable (_ isHung: Bool) -> Void, _ work: () throws -> R
    ) rethrows -> R {
        var clock = clockid_t()
        // Fails only on a kernel without such clocks; then hangs go undetected.
        guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return try work() }
        let call = Call(whose: whose, began: .now(), clock: clock, changed: changed, used: Self.used(clock))
        let (ticket, mustLook) = state.withLock { state in
            state.next += 1
            state.calls[state.next] = call
            defer { state.isLooking = true }
            return (state.next, !state.isLooking)
        }
        if mustLook { startLooking() }
        defer { end(ticket) }
        return try work()
    }

    /// The same for a thread outside all pools: a hang is reported, but no replacement thread starts.
    package func watching<R>(_ whose: Bulkhead, _ work: () throws -> R) rethrows -> R {
        try watching(whose, changed: { _ in }, work)
    }

    /// Waits until `condition` holds, checking every 20 ms; stops once calls have been hanging for ``threshold``
    /// seconds. For shutdown, after the other side was asked to stop.
    ///
    /// - Returns: whether it holds.
    @discardableResult
    package static func wait(until condition: @escaping @Sendable () async -> Bool) async -> Bool {
        // In a separate task: the caller's is usually cancelled, and cannot sleep.
        await Task.detached {
            var left = threshold
            while !(await condition()) {
                if left <= 0 { return false }
                do { try await Task.sleep(for: .milliseconds(20)) } catch { return false }
                if !shared.hangs.isEmpty { left -= 0.02 }
            }
            return true
        }.value
    }

    private static func used(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return -1 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private func end(_ ticket: Int) {
        let (call, told) = state.withLock { state in
            let call = state.calls.removeValue(forKey: ticket)
            let isLast = call.map { call in !state.calls.values.contains { $0.whose == call.whose && $0.isHung } }
            return (call, isLast == true ? state.listener : nil)
        }
        guard let call, call.isHung else { return }
        call.changed(false)
        told?(Self.hang(call), false)
    }

    private func startLooking() {
        Task.detached {
            repeat {
                // Never cancelled: it ends with the calls.
                do { try await Task.sleep(for: .seconds(Self.threshold / Double(Self.looks))) } catch { return }
            } while self.look()
        }
    }

    /// - Returns: whether there is anything left to check.
    private func look() -> Bool {
        let (hung, first, listener, reminder, goOn) = state.withLock { state in
            var hung: [Call] = []
            var first: [Call] = []
            let before = Set(state.calls.values.filter(\.isHung).map(\.whose))
            for (ticket, var call) in state.calls {
                // Safe: the thread is still in the call, which cannot end during this check.
                let used = Self.used(call.clock)
                let wasHung = call.isHung
                // A call that hung counts as hanging until it returns.
                if used != call.used, !wasHung { call.idleLooks = 0 } else { call.idleLooks += 1 }
                call.used = used
                state.calls[ticket] = call
                guard call.isHung, !wasHung else { continue }
                hung.append(call)
                if !before.contains(call.whose), !first.contains(where: { $0.whose == call.whose }) {
                    first.append(call)
                }
            }
            state.isLooking = !state.calls.isEmpty
            let anyHangs = state.calls.values.contains(where: \.isHung)
            return (hung, first, state.listener, anyHangs ? state.reminder : nil, state.isLooking)
        }
        for call in hung { call.changed(true) }
        for call in first { listener?(Self.hang(call), true) }
        reminder?()
        return goOn
    }
}

/// The result of `work`, which blocks, within some seconds; nil if there is none by then. The work continues.
package func answer<R: Sendable>(
    within seconds: Double, _ work: @escaping @Sendable () throws -> R
) async throws -> R? {
    try await outcome(within: seconds) { try await BlockingPool("answer").run(work) }
}

/// The same for work that suspends instead of blocking.
package func outcome<R: Sendable>(
    within seconds: Double, _ work: @escaping @Sendable () async throws -> R
) async throws -> R? {
    // Never cancelled.
    try await outcome(work) { _ in try? await Task.sleep(for: .seconds(seconds)) }
}

/// The same without a time limit; nil if a call on behalf of `whose` hangs first.
package func outcome<R: Sendable>(
    unlessHung whose: Bulkhead, _ work: @escaping @Sendable () async throws -> R
) async throws -> R? {
    try await outcome(work) { isAwaited in
        while isAwaited(), !HangWatch.shared.hangs(for: whose) {
            try? await Task.sleep(for: .milliseconds(250))
        }
    }
}

/// - Parameter timeout: returns when the wait for `work` should end.
private func outcome<R: Sendable>(
    _ work: @escaping @Sendable () async throws -> R,
    timeout: @escaping @Sendable (_ isAwaited: @escaping @Sendable () -> Bool) async -> Void
) async throws -> R? {
    let asker = Mutex<CheckedContinuation<Result<R, any Error>?, Never>?>(nil)
    let found = await withCheckedContinuation { continuation in
        asker.withLock { $0 = continuation }
        let say: @Sendable (Result<R, any Error>?) -> Void = { found in
            asker.withLock { asker in
                defer { asker = nil }
                return asker
            }?.resume(returning: found)
        }
        let isAwaited: @Sendable () -> Bool = { asker.withLock { $0 != nil } }
        Task.detached {
            do { say(.success(try await work())) } catch { say(.failure(error)) }
        }
        Task.detached {
            await timeout(isAwaited)
            say(nil)
        }
    }
    return try found?.get()
}

extension Fault {
    /// The ``code`` of work that was not begun because earlier calls for the same place or rule have not returned.
    package static let hanging = "hanging"
}
