import Platform

/// At most `limit` at a time; the others wait in the order in which they came.
package actor Gate {
    private let limit: Int
    private var inside = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var toBeGiven: [@Sendable (WorkPlace) -> Void] = []
    private var places: [ObjectIdentifier: (place: WorkPlace, since: ContinuousClock.Instant)] = [:]
    /// Those that were taken back, until their steps have ended after all.
    private var reclaimed: [ObjectIdentifier: WorkPlace] = [:]

    package init(limit: Int) { self.limit = max(1, limit) }

    package func enter() async {
        if inside < limit {
            inside += 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    fileprivate func acquirePlace() async -> WorkPlace {
        await enter()
        return newPlace()
    }

    fileprivate func acquirePlaceAtOnce() -> WorkPlace? {
        guard inside < limit else { return nil }
        inside += 1
        return newPlace()
    }

    private func newPlace() -> WorkPlace {
        let place = WorkPlace(self)
        places[ObjectIdentifier(place)] = (place, .now)
        return place
    }

    fileprivate func leave(_ place: WorkPlace) {
        let id = ObjectIdentifier(place)
        if places.removeValue(forKey: id) != nil { leave() } else { reclaimed[id] = nil }
    }

    /// Whether it is a place of this gate's that has not been left.
    func holds(_ place: WorkPlace) -> Bool { places[ObjectIdentifier(place)]?.place === place }

    /// Takes places back from those who have had them for longer than calls take that return, the oldest first: their steps go
    /// on without, if they ever do. What takes long and does not hang cannot be told from them, so that no more are taken than
    /// calls hang: the limit is exceeded by no more.
    ///
    /// - Parameter hung: how many calls hang.
    func reclaim(hung: Int) {
        let now = ContinuousClock.now
        let old = places.filter { $0.value.since.duration(to: now) >= .seconds(HangWatch.patience) }
        for (id, held) in old.sorted(by: { $0.value.since < $1.value.since }) where reclaimed.count < hung {
            places[id] = nil
            reclaimed[id] = held.place
            leave()
        }
    }

    package func leave() {
        if !waiting.isEmpty {
            waiting.removeFirst().resume()
        } else if !toBeGiven.isEmpty {
            toBeGiven.removeFirst()(newPlace())
        } else {
            inside -= 1
        }
    }

    /// Gives `body` a place once there is one, after those who wait already; it must not block.
    func givePlace(to body: @escaping @Sendable (WorkPlace) -> Void) {
        if let place = acquirePlaceAtOnce() { body(place) } else { toBeGiven.append(body) }
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
    static func acquiredAtOnce(in gate: Gate) async -> WorkPlace? { await gate.acquirePlaceAtOnce() }

    fileprivate init(_ gate: Gate) { self.gate = gate }

    /// Leaves the place to others though the step goes on: it has found out that it takes long, and waits for what else
    /// is limited.
    package func giveUp() { Task { await leave() } }

    func leave() async { await gate.leave(self) }
}
