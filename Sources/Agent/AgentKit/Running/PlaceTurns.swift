import Ledger
import Logging
import Platform
import Rules
import Watching

/// Places in use by another agent (``PlaceClaims``): nothing is done in them until that agent has ended.
extension Pipeline {
    /// How often to check whether the other agent has ended. Not every file system can wait for that: over NFS and
    /// FUSE, a blocking lock is polled as well.
    private static let interval: Duration = .milliseconds(500)

    /// Leaves places alone that are, or turn out to be, in use.
    func watchTurns() {
        guard let claims = core.journal.presence.claims else { return }
        claims.listen { [weak self] name in Task { await self?.standBack(from: name) } }
        for name in claims.inUse.keys { standBack(from: name) }
    }

    /// Waits for the place to become free; a no-op if that is already happening.
    func standBack(from name: String) {
        guard !isStopped, turns[name] == nil, let place = core.places[name: name],
            let holder = core.journal.presence.claims?.inUse[name]
        else { return }
        log.warning(
            "the place \(name) is in use by \(holder), which looks after \(place.root): nothing is done there until that agent ends",
            metadata: [LogFields.place: "\(name)"])
        // Work that waits for the place resumes when it is back.
        away.insert(name)
        firstScans.remove(name)
        surveys[name] = nil
        core.journal.surveyed.remove(name)
        turns[name] = Task { await Bulkhead.$current.withValue(.place(name)) { await self.awaitTurn(in: place) } }
        changed()
    }

    private func awaitTurn(in place: PlaceInfo) async {
        let presence = core.journal.presence
        var lastSeen = Timestamp.now()
        while !isStopped {
            do {
                try await Task.sleep(for: Self.interval)
                let asked = Timestamp.now()
                guard try await scanPool.run({ try presence.holder(of: place) }) != nil else { break }
                lastSeen = asked
            } catch is CancellationError {
                break
            } catch {
                // It does not answer; it may be free when it does.
                continue
            }
        }
        turns[place.name] = nil
        if !isStopped { await takeOver(place, inUseUntil: lastSeen) }
    }

    /// The place was the other agent's, so it has dealt with the files there. They are treated like those of a new
    /// place, where `existing` says which rules apply; files that may have come too late for that agent count as
    /// arrived.
    private func takeOver(_ place: PlaceInfo, inUseUntil end: Timestamp) async {
        let kind = baselines[place.name]?.kind ?? .first
        let began = end.adding(seconds: -core.configuration.settle)
        do {
            try await begin(Baseline(kind: kind, began: began), of: place.name)
            firstScans.insert(place.name)
            lookThrough(place)
            log.notice(
                "no other agent uses the place \(place.name) any more", metadata: [LogFields.place: "\(place.name)"]
            )
        } catch {
            log.error("the place \(place.name) cannot be taken over yet: \(explain(error))")
            turns[place.name] = Task {
                do { try await Task.sleep(for: .seconds(5)) } catch { return }
                await self.takeOverAgain(place, inUseUntil: end)
            }
        }
    }

    private func takeOverAgain(_ place: PlaceInfo, inUseUntil end: Timestamp) async {
        turns[place.name] = nil
        if !isStopped { await takeOver(place, inUseUntil: end) }
    }
}
