import Platform
import Synchronization

/// Where archives are looked into: a few quick places, and one for those that take long. An archive that has used up its
/// share of a quick place (``WorkerLimits/quickShare(for:)``) gives that to others, whatever there is of its kind.
final class ExaminationPlaces: Sendable {
    private let quick: AsyncSemaphore
    private let slow = AsyncSemaphore(permits: 1)
    private let lanes: BlockingPool

    /// - Parameter count: how many archives may be looked into at the same time, besides a slow one.
    init(count: Int) {
        quick = AsyncSemaphore(permits: count)
        lanes = BlockingPool("examine", threads: max(1, count) + 1)
    }

    /// Runs a blocking examination: first in a quick place; where its share is used up, it goes on in the slow one if
    /// that is free, else it is broken off and begins again there once it is.
    ///
    /// - Parameters:
    ///   - aside: called at most once, when the examination has left its quick place.
    ///   - body: is given the pass by which its processes are measured; it must end when that throws.
    func run<R: Sendable>(
        share: QuickShare, aside: @escaping @Sendable () -> Void, _ body: @Sendable (ExaminationPass) throws -> R
    ) async throws -> R {
        let pass = ExaminationPass(try await quick.acquire(), share, slow: slow, aside: aside)
        do {
            defer { pass.leave() }
            return try await lanes.run { try body(pass) }
        } catch is PutOff {
            // A process that waits would keep its memory; few archives are slow, and a share is short.
            aside()
        }
        return try await slow.withPermit { try await lanes.run { try body(ExaminationPass()) } }
    }
}

/// How long an archive may keep a quick place.
struct QuickShare: Sendable, Equatable {
    /// Seconds of the processor.
    let processor: Double
    /// Seconds by the clock: a disk that does not answer keeps a place as well.
    var clock: Double { 5 * processor }
}

extension WorkerLimits {
    /// How long an archive of so many bytes may keep others waiting: well over what sound ones need. Past it, it goes on in
    /// a place for slow ones.
    func quickShare(for size: Int64) -> QuickShare {
        QuickShare(processor: min(Self.mostQuick, 1 + Double(max(0, size)) / Self.quickBytes))
    }

    /// The same for decoding so many pages.
    func quickShare(decoding pages: Int) -> QuickShare {
        QuickShare(processor: min(6 * Self.mostQuick, 1 + 0.1 * Double(pages)))
    }

    private static let mostQuick = 5.0
    /// Packed bytes that slow machines read and unpack in a second.
    private static let quickBytes = Double(8 << 20)
}

/// Says that an examination has to begin again in the slow place.
struct PutOff: Error {}

/// One examination's claim to the place in which it runs; it may be of several processes, one after the other.
final class ExaminationPass: Sendable {
    private struct State {
        var permit: AsyncSemaphore.Permit?
        var isQuick: Bool
        /// Seconds of the processor that processes which have ended had.
        var spent = 0.0
    }

    private let share: QuickShare
    private let began = SuspendingClock.now
    private let slow: AsyncSemaphore?
    private let aside: @Sendable () -> Void
    private let state: Mutex<State>

    /// - Parameter permit: that of a quick place.
    init(
        _ permit: AsyncSemaphore.Permit, _ share: QuickShare, slow: AsyncSemaphore,
        aside: @escaping @Sendable () -> Void
    ) {
        (self.share, self.slow, self.aside) = (share, slow, aside)
        state = Mutex(State(permit: permit, isQuick: true))
    }

    /// A pass in the slow place, without an end.
    init() {
        (share, slow, aside) = (QuickShare(processor: .infinity), nil, {})
        state = Mutex(State(isQuick: false))
    }

    /// Whether its place may have to be given up, so that somebody should look.
    var isQuick: Bool { state.withLock { $0.isQuick } }

    /// Gives up the quick place where the share is used up.
    ///
    /// - Parameter seconds: of the processor that the process which is at work has had.
    /// - Throws: ``PutOff`` where the slow place is taken.
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

    /// Counts a process that has ended.
    func add(_ seconds: Double) { state.withLock { $0.spent += seconds } }

    func leave() {
        let permit = state.withLock { state in
            defer { (state.permit, state.isQuick) = (nil, false) }
            return state.permit
        }
        permit?.release()
    }
}
