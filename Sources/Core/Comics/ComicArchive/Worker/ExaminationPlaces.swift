import Platform
import Synchronization

/// The places for examining archives: a few quick ones, and a slow one. An archive that has used up its share of a
/// quick place (``WorkerLimits/quickShare(for:)``) gives it up, so that slow archives cannot starve the others.
final class ExaminationPlaces: Sendable {
    private let quick: AsyncSemaphore
    private let slow = AsyncSemaphore(permits: 1)
    private let pool: BlockingPool

    /// - Parameter count: how many archives may be examined concurrently, besides a slow one.
    init(count: Int) {
        quick = AsyncSemaphore(permits: count)
        pool = BlockingPool("examine", threads: max(1, count) + 1)
    }

    /// Runs a blocking examination, first in a quick place. If its share is used up, it continues in the slow place if
    /// that is free; otherwise it is aborted and starts over there once it is.
    ///
    /// - Parameters:
    ///   - aside: called at most once, when the examination has left its quick place.
    ///   - body: receives the pass that measures its processes; it must end when the pass throws.
    func run<R: Sendable>(
        share: QuickShare, aside: @escaping @Sendable () -> Void, _ body: @Sendable (ExaminationPass) throws -> R
    ) async throws -> R {
        let pass = ExaminationPass(try await quick.acquire(), share, slow: slow, aside: aside)
        do {
            defer { pass.leave() }
            return try await pool.run { try body(pass) }
        } catch is PutOff {
            // Aborted rather than paused: a paused process would keep its memory; slow archives are rare, and a share
            // is short.
            aside()
        }
        return try await slow.withPermit { try await pool.run { try body(ExaminationPass()) } }
    }
}

/// How long an archive may keep a quick place.
struct QuickShare: Sendable, Equatable {
    /// CPU seconds.
    let processor: Double
    /// Wall-clock seconds: a disk that does not answer occupies a place as well.
    var clock: Double { 5 * processor }
}

extension WorkerLimits {
    /// The quick share of an archive of this size in bytes: well over the needs of sound ones. Past it, the archive
    /// continues in the slow place.
    func quickShare(for size: Int64) -> QuickShare {
        QuickShare(processor: min(Self.mostQuick, 1 + Double(max(0, size)) / Self.quickBytes))
    }

    /// The same for decoding this many pages.
    func quickShare(decoding pages: Int) -> QuickShare {
        QuickShare(processor: min(6 * Self.mostQuick, 1 + 0.1 * Double(pages)))
    }

    private static let mostQuick = 5.0
    /// Packed bytes per second that slow machines read and unpack.
    private static let quickBytes = Double(8 << 20)
}

/// The examination must start over in the slow place.
struct PutOff: Error {}

/// One examination's claim to its place; it may run several processes in sequence.
final class ExaminationPass: Sendable {
    private struct State {
        var permit: AsyncSemaphore.Permit?
        var isQuick: Bool
        /// CPU seconds of its finished processes.
        var spent = 0.0
    }

    private let share: QuickShare
    private let began = SuspendingClock.now
    private let slow: AsyncSemaphore?
    private let aside: @Sendable () -> Void
    private let state: Mutex<State>

    /// - Parameter permit: for a quick place.
    init(
        _ permit: AsyncSemaphore.Permit, _ share: QuickShare, slow: AsyncSemaphore,
        aside: @escaping @Sendable () -> Void
    ) {
        (self.share, self.slow, self.aside) = (share, slow, aside)
        state = Mutex(State(permit: permit, isQuick: true))
    }

    /// A pass in the slow place, without a time limit.
    init() {
        (share, slow, aside) = (QuickShare(processor: .infinity), nil, {})
        state = Mutex(State(isQuick: false))
    }

    /// Whether it may have to give up its place, so that its CPU time must be checked.
    var isQuick: Bool { state.withLock { $0.isQuick } }

    /// Gives up the quick place if the share is used up.
    ///
    /// - Parameter seconds: CPU seconds of the running process.
    /// - Throws: ``PutOff`` if the slow place is taken.
    func check(_ seconds: Double) throws {
        let quick: AsyncSemaphore.Permit? = try state.withLock { state in
            guard state.isQuick else { return nil }
            let clock = began.duration(to: .now) / .seconds(1)
            guard state.spent + seconds > share.processor || clock > share.clock else { return nil }
            guard let permit = slow?.acquireIfFree() else { throw PutOff() }
            defer { (state.permit, state.isQuick) = (permit, false) }
            return state.permit
        }
        guard let quick else { return }
        quick.release()
        aside()
    }

    /// Adds a finished process.
    func add(_ seconds: Double) { state.withLock { $0.spent += seconds } }

    func leave() {
        let permit = state.withLock { state in
            defer { (state.permit, state.isQuick) = (nil, false) }
            return state.permit
        }
        permit?.release()
    }
}
