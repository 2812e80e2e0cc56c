import Platform
import Synchronization

/// The places that this process looks after, each by its ``PlaceLock``. A lock is taken when something is first done in the
/// place, and anew where another folder, or another lock file, has come to stand there.
package final class PlaceClaims: Sendable {
    private struct Claim {
        var lock: PlaceLock?
        /// A folder in which no lock can be had, and why.
        var unlockable: (folder: FileStatus, reason: String)?
        /// Who holds a folder that the place lies in, and when that was looked at.
        var above: (holder: PlaceHolder?, at: ContinuousClock.Instant)?
    }

    private struct State {
        var inUse: [String: PlaceHolder] = [:]
        var locks: [String: PlaceLock] = [:]
        var reasons: [String: String] = [:]
        var listener: (@Sendable (_ place: String) -> Void)?
    }

    /// A lock of its own for each place: one that does not answer holds up no other.
    private final class Guarded: Sendable {
        let claim = Mutex(Claim())
    }

    private let holder: PlaceHolder
    private let claims: [String: Guarded]
    private let state = Mutex(State())

    /// - Parameter state: the state folder, which the lock files name.
    package init(_ places: PlaceMap, state: BytePath) {
        holder = PlaceHolder(state: state)
        claims = Dictionary(places.places.map { ($0.name, Guarded()) }) { first, _ in first }
    }

    /// Places that another agent looks after, by name. Does not block.
    package var inUse: [String: PlaceHolder] { state.withLock { $0.inUse } }

    /// Places of which no lock can be had, and why. Does not block.
    package var unlockable: [String: String] { state.withLock { $0.reasons } }

    /// Has `listener` told when it shows that another agent looks after a place; it must not block.
    package func listen(_ listener: @escaping @Sendable (_ place: String) -> Void) {
        state.withLock { $0.listener = listener }
    }

    /// Takes the place's lock in the folder that stands there, unless it has that already. Blocks.
    ///
    /// - Returns: who else looks after it; nil where this process does, or no lock can be had.
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

    /// Gives a place's lock back, unless it is that of the folder which stands there now. Blocks.
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

    /// Gives all locks back, though a thread of this process may never end. Blocks.
    ///
    /// The files stay open till the process ends: closing one asks a FUSE server, which may not answer any more.
    package func release() {
        for lock in state.withLock({ Array($0.locks.values) }) { lock.release() }
    }

    /// Who else has the lock of a folder; nil where nobody has. Takes nothing. Blocks.
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

    /// Whether the place lies in one that another agent looks after: the outer one comes first, as it sees these files too.
    /// Looked at once a second: that agent may come later than this one.
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
