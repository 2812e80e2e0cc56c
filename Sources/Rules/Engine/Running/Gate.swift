import DequeModule
import Platform
import Synchronization

/// At most `limit` at a time; the others wait in the order in which they came. No actor: each step of each job comes by some
/// times, and would change its thread for it.
package final class Gate: Sendable {
    private struct State {
        var inside = 0
        var waiting: Deque<CheckedContinuation<Void, Never>> = []
        var toBeGiven: Deque<@Sendable (WorkPlace) -> Void> = []
        var places: [ObjectIdentifier: (place: WorkPlace, since: ContinuousClock.Instant)] = [:]
        /// Those that were taken back, until their steps have ended after all.
        var reclaimed: [ObjectIdentifier: WorkPlace] = [:]

        mutating func add(_ place: WorkPlace) { places[ObjectIdentifier(place)] = (place, .now) }
    }

    /// Who goes on when one has left.
    private enum Next {
        case nobody
        case waiter(CheckedContinuation<Void, Never>)
        case receiver(@Sendable (WorkPlace) -> Void, WorkPlace)
    }

    private let limit: Int
    private let state = Mutex(State())

    package init(limit: Int) { self.limit = max(1, limit) }

    package func enter() async {
        if entersAtOnce() { return }
        await withCheckedContinuation { continuation in
            let isIn = state.withLock { state in
                guard state.inside < limit else {
                    state.waiting.append(continuation)
                    return false
                }
                state.inside += 1
                return true
            }
            if isIn { continuation.resume() }
        }
    }

    private func entersAtOnce() -> Bool {
        state.withLock { state in
            guard state.inside < limit else { return false }
            state.inside += 1
            return true
        }
    }

    package func leave() { goOn(state.withLock { leave(&$0) }) }

    private func leave(_ state: inout State) -> Next {
        if let waiter = state.waiting.popFirst() { return .waiter(waiter) }
        if let receiver = state.toBeGiven.popFirst() {
            let place = WorkPlace(self)
            state.add(place)
            return .receiver(receiver, place)
        }
        state.inside -= 1
        return .nobody
    }

    private func goOn(_ next: Next) {
        switch next {
        case .nobody: break
        case .waiter(let continuation): continuation.resume()
        case .receiver(let receive, let place): receive(place)
        }
    }

    // MARK: Places

    fileprivate func acquirePlace() async -> WorkPlace {
        await enter()
        return newPlace()
    }

    fileprivate func acquirePlaceAtOnce() -> WorkPlace? { entersAtOnce() ? newPlace() : nil }

    private func newPlace() -> WorkPlace {
        let place = WorkPlace(self)
        state.withLock { $0.add(place) }
        return place
    }

    fileprivate func leave(_ place: WorkPlace) {
        let id = ObjectIdentifier(place)
        goOn(
            state.withLock { state in
                if state.places.removeValue(forKey: id) != nil { return leave(&state) }
                state.reclaimed[id] = nil
                return .nobody
            })
    }

    /// Whether it is a place of this gate's that has not been left.
    func holds(_ place: WorkPlace) -> Bool { state.withLock { $0.places[ObjectIdentifier(place)]?.place === place } }

    /// Takes places back from those who have had them for longer than calls take that return, the oldest first: their steps go
    /// on without, if they ever do. What takes long and does not hang cannot be told from them, so that no more are taken than
    /// calls hang: the limit is exceeded by no more.
    ///
    /// - Parameter hung: how many calls hang.
    func reclaim(hung: Int) {
        let now = ContinuousClock.now
        let next = state.withLock { state in
            let old = state.places.filter { $0.value.since.duration(to: now) >= .seconds(HangWatch.patience) }
            var next: [Next] = []
            for (id, held) in old.sorted(by: { $0.value.since < $1.value.since }) where state.reclaimed.count < hung {
                state.places[id] = nil
                state.reclaimed[id] = held.place
                next.append(leave(&state))
            }
            return next
        }
        next.forEach(goOn)
    }

    /// Gives `body` a place once there is one, after those who wait already; it must not block.
    func givePlace(to body: @escaping @Sendable (WorkPlace) -> Void) {
        let place = state.withLock { state -> WorkPlace? in
            guard state.inside < limit else {
                state.toBeGiven.append(body)
                return nil
            }
            state.inside += 1
            let place = WorkPlace(self)
            state.add(place)
            return place
        }
        if let place { body(place) }
    }
}

/// The place that a step has among those of its kind of work.
package final class WorkPlace: Sendable {
    /// That of the step which is being carried out; nil outside of one.
    @TaskLocal package static var current: WorkPlace?

    private let gate: Gate

    /// Waits until there is one.
    static func acquired(in gate: Gate) async -> WorkPlace { await gate.acquirePlace() }

    /// Nil where there is none.
    static func acquiredAtOnce(in gate: Gate) -> WorkPlace? { gate.acquirePlaceAtOnce() }

    fileprivate init(_ gate: Gate) { self.gate = gate }

    /// Leaves the place to others, also before its step has ended: that has found out that it takes long, and waits for what else
    /// is limited.
    package func leave() { gate.leave(self) }
}
