import Platform
import Synchronization

/// The places that this process handles, each with its ``PlaceLock``. A lock is taken on first use of the place, and
/// taken again if another folder or another lock file has replaced the first.
package final class PlaceClaims: Sendable {
    private struct Claim {
        var lock: PlaceLock?
        /// A folder that cannot be locked, and why.
        var unlockable: (folder: FileStatus, reason: String)?
        /// Who holds a folder above the place, and when that was checked.
        var above: (holder: PlaceHolder?, at: ContinuousClock.Instant)?
    }

    private struct State {
        var inUse: [String: PlaceHolder] = [:]
        var locks: [String: PlaceLock] = [:]
        var reasons: [String: String] = [:]
        var listener: (@Sendable (_ place: String) -> Void)?
    }

    /// One mutex per place, so that a place that does not answer delays no other.
    private final class Guarded: Sendable {
        let claim = Mutex(Claim())
    }

    private let holder: PlaceHolder
    private let claims: [String: Guarded]
    private let state = Mutex(State())

    /// - Parameter state: the state folder, which lock files refer to.
    package init(_ places: PlaceMap, state: BytePath) {
        holder = PlaceHolder(state: state)
        claims = Dictionary(places.places.map { ($0.name, Guarded()) }) { first, _ in first }
    }

    /// Places that another agent handles, by name. Does not block.
    package var inUse: [String: PlaceHolder] { state.withLock { $0.inUse } }

    /// Places that cannot be locked, and why. Does not block.
    package var unlockable: [String: String] { state.withLock { $0.reasons } }

    /// Sets a listener for places found in use by another agent; it must not block.
    package func listen(_ listener: @escaping @Sendable (_ place: String) -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Takes the place's lock in its present folder, unless it is already held. Blocks.
    ///
    /// - Returns: the other agent that handles it; nil if this process does, or if no lock is possible.
    package func claim(_ place: PlaceInfo, in opened: Descriptor) throws -> PlaceHolder? {
        guard let guarded = claims[place.name] else { return nil }
        let folder = Folder(opened)
        return try guarded.claim.withLock { claim in
            var other = try take(&claim, folder, place.name)
            if other == nil { other = try look(above: folder, &claim) }
            note(place.name, claim, other)
            return other
        }
    }

    /// Releases a place's lock, unless it belongs to the folder now at its path. Blocks.
    package func leave(_ place: PlaceInfo, for opened: Descriptor? = nil) throws {
        guard let guarded = claims[place.name] else { return }
        try guarded.claim.withLock { claim in
            if let opened {
                guard let lock = claim.lock, try !lock.stands(in: Folder(opened)) else { return }
            }
            claim.lock?.release()
            claim = Claim()
            note(place.name, claim, nil)
        }
    }

    /// Releases all locks, even if a thread of this process never ends. Blocks.
    ///
    /// The files stay open until the process ends: closing one may hang on a dead FUSE server.
    package func release() {
        for lock in state.withLock({ Array($0.locks.values) }) { lock.release() }
    }

    /// The other holder of a folder's lock, or nil. Takes no lock. Blocks.
    func others(in opened: Descriptor) throws -> PlaceHolder? {
        try PlaceLock.holder(in: Folder(opened), except: state.withLock { Array($0.locks.values) })
    }

    private func take(_ claim: inout Claim, _ folder: Folder, _ name: String) throws -> PlaceHolder? {
        if let lock = claim.lock, try lock.stands(in: folder) { return nil }
        claim.lock?.release()
        claim.lock = nil
        state.withLock { $0.locks[name] = nil }
        if let known = claim.unlockable, try folder.status().isSameFile(as: known.folder) { return nil }
        claim.unlockable = nil
        switch try PlaceLock.take(in: folder, as: holder) {
        case .taken(let lock): claim.lock = lock
        case .held(let other): return other
        case .impossible(let fault): claim.unlockable = (try folder.status(), fault.message)
        }
        return nil
    }

    /// The agent that handles an outer place around this one. The outer one takes precedence, since it sees these
    /// files too. Checked at most once a second, as that agent may start later.
    private func look(above folder: Folder, _ claim: inout Claim) throws -> PlaceHolder? {
        let now = ContinuousClock.now
        if let known = claim.above, now - known.at < .seconds(1) { return known.holder }
        let own = state.withLock { Array($0.locks.values) }
        var found: PlaceHolder?
        var folder = folder
        while found == nil, let above = try folder.above() {
            found = try PlaceLock.holder(in: above, except: own)
            folder = above
        }
        claim.above = (found, now)
        return found
    }

    private func note(_ place: String, _ claim: Claim, _ other: PlaceHolder?) {
        let listener = state.withLock { state in
            state.locks[place] = claim.lock
            state.reasons[place] = claim.unlockable?.reason
            let before = state.inUse[place]
            state.inUse[place] = other
            return before == nil && other != nil ? state.listener : nil
        }
        listener?(place)
    }
}
