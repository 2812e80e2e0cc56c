import Glibc
import Ledger
import Platform
import Synchronization

/// Whether a place is there, or away: whether the folder at its path is the one that its files are known from, and not
/// an unmounted disk's bare mount point or a folder that was made anew. Of a place that is away nothing is concluded, and
/// nothing is written into it. Everything blocks
/// that does not say otherwise.
package final class PlacePresence: Sendable {
    package enum Look: Sendable {
        /// The place's own folder.
        case here(Descriptor)
        /// Another folder stands there.
        case other(Descriptor)
        /// Another agent looks after the place: nothing in it is dealt with, and nothing is written into it.
        case inUse(PlaceHolder)
        case missing
    }

    private let ledger: Ledger
    /// Nil where nothing is done in places: rules are only read or planned.
    package let claims: PlaceClaims?
    let places: PlaceMap
    package let lanes = BlockingPool("places", threads: 4, perBulkhead: true)
    /// What the ledger holds of each place that was looked at.
    private let known = Mutex<[String: PlaceRecord]>([:])

    init(ledger: Ledger, places: PlaceMap, claims: PlaceClaims?) {
        self.ledger = ledger
        self.places = places
        self.claims = claims
    }

    var placeNames: [String] { places.places.map(\.name) }

    func place(named name: String) -> PlaceInfo? { places[name: name] }

    /// Looks at the folder that stands at the place's path, and notes in the ledger if that has become another.
    ///
    /// - Parameter anew: whether a folder that was taken for another is searched for the place's files once more.
    package func look(at place: PlaceInfo, anew: Bool = false) throws -> Look {
        let look = try lookAtFolder(of: place, anew: anew)
        switch look {
        case .here(let folder): return try claims?.claim(place, in: folder).map(Look.inUse) ?? look
        // A bare mount point may be empty for good: it is claimed when there is something in it to be dealt with.
        case .other(let folder): try claims?.leave(place, for: folder)
        case .inUse, .missing: try claims?.leave(place)
        }
        return look
    }

    private func lookAtFolder(of place: PlaceInfo, anew: Bool) throws -> Look {
        guard let folder = try FolderIdentity.open(place.root) else { return .missing }
        // A place that the ledger does not know has no files that could be away.
        guard let record = try record(place) else { return .here(folder) }
        let now = try FolderIdentity(folder)
        if let identity = record.identity, identity.isSame(as: now) {
            if record.other != nil { try updateRecord(place) { try $0.setPlaceHere(place.name, now) } }
            return .here(folder)
        }
        if !anew, let other = record.other, other.isSame(as: now) { return .other(folder) }
        if try isAnother(now, folder, than: record, place) {
            if record.other != now { try updateRecord(place) { try $0.setPlaceAway(place.name, instead: now) } }
            return .other(folder)
        }
        try updateRecord(place) { try $0.setPlaceHere(place.name, now) }
        return .here(folder)
    }

    /// Who else looks after the folder that stands there; nil where this process does, or none stands there.
    package func holder(of place: PlaceInfo) throws -> PlaceHolder? {
        switch try look(at: place) {
        case .here, .missing: return nil
        case .other(let folder): return try claims?.claim(place, in: folder)
        case .inUse(let holder): return holder
        }
    }

    /// Takes the folder that stands there now for the place, whatever was known before.
    ///
    /// - Throws: `Fault(.transient)` where none stands there.
    package func accept(_ place: PlaceInfo) throws {
        guard let folder = try FolderIdentity.open(place.root) else { throw Self.away(place, "it is not there") }
        let now = try FolderIdentity(folder)
        try updateRecord(place) { try $0.setPlaceHere(place.name, now) }
    }

    /// The folder that stands at the place's path, to reach through it what lies there: also where that is another, whose
    /// own files are dealt with as news. What puts something into the place asks ``require(_:)`` first.
    ///
    /// - Throws: `Fault(.transient)` where there is none, or another agent looks after it.
    package func root(of place: PlaceInfo) throws -> Root {
        switch try look(at: place) {
        case .here(let folder): return Root(folder, links: place.links)
        case .other(let folder):
            if let holder = try claims?.others(in: folder) { throw Self.inUse(place, holder) }
            return Root(folder, links: place.links)
        case .inUse(let holder): throw Self.inUse(place, holder)
        case .missing: throw Self.away(place, "it is not there")
        }
    }

    /// Whether a file of the place that was missed is gone from it; nil where it is there after all. That the place is
    /// away is no reason to think so.
    func isGone(_ path: BytePath, in place: PlaceInfo) throws -> Bool? {
        let folder: Descriptor
        switch try look(at: place) {
        case .missing, .inUse: return false
        case .here(let found): folder = found
        case .other(let found):
            if try ledger.readBlocking({ try $0.file(place.name, path) })?.isKept != false { return false }
            folder = found
        }
        return try Self.status(path, below: folder)?.kind == .file ? nil : true
    }

    /// - Throws: `Fault(.transient)` where the place that the path belongs to is away, or in use by another agent.
    package func require(_ path: BytePath) throws { if let fault = try absence(of: path) { throw fault } }

    package func isHere(_ path: BytePath) throws -> Bool { try absence(of: path) == nil }

    /// Why the place that the path belongs to is away or in use, as a transient fault; nil where it is not.
    func absence(of path: BytePath) throws -> Fault? {
        guard let place = places.locate(path)?.place ?? places.places.first(where: { $0.root == path }) else {
            return nil
        }
        return try absence(of: place)
    }

    private func absence(of place: PlaceInfo) throws -> Fault? {
        switch try look(at: place) {
        case .here: return nil
        case .inUse(let holder): return Self.inUse(place, holder)
        case .missing: return Self.away(place, "it is not there")
        case .other: return Self.away(place, "another folder stands there, without the files that are known from it")
        }
    }

    /// How the message of a job begins that waits for the place.
    package static func awayMessage(_ place: PlaceInfo) -> String { "the place \(place.name) is away" }

    /// How the message of a job begins that waits for another agent to end.
    package static func inUseMessage(_ place: PlaceInfo) -> String { "the place \(place.name) is in use" }

    static func inUse(_ place: PlaceInfo, _ holder: PlaceHolder) -> Fault {
        Fault(
            .transient,
            "\(inUseMessage(place)) by \(holder), which looks after \(place.root): it goes on here when that agent ends",
            path: place.root, code: Fault.inUse)
    }

    private static func away(_ place: PlaceInfo, _ why: String) -> Fault {
        Fault(
            .transient,
            "\(awayMessage(place)): \(place.root): \(why); mount it or put it back (`steward status` says more)",
            path: place.root)
    }

    private func isAnother(
        _ now: FolderIdentity, _ folder: Descriptor, than record: PlaceRecord, _ place: PlaceInfo
    ) throws -> Bool {
        let mayBeRemounted = record.identity.map { now.mayBeRemounted(as: $0) } ?? true
        var knowsAny = false
        var mark: FilePageMark? = FilePageMark()
        while let start = mark {
            let page = try ledger.readBlocking { try $0.files(place.name, from: start) }
            mark = page.next
            for file in page.files where record.other == nil || file.isKept {
                knowsAny = true
                if try Self.isThere(file, folder, byName: mayBeRemounted) { return false }
            }
        }
        return knowsAny || record.identity?.isMount == true && !now.isMount
    }

    /// - Parameter byName: whether a file of that name will do, whatever has been written into it since.
    private static func isThere(_ file: FileRecord, _ folder: Descriptor, byName: Bool) throws -> Bool {
        guard let status = try status(file.path, below: folder), status.kind == .file else { return false }
        if byName { return true }
        guard status.size == file.fingerprint.size else { return false }
        if status.fingerprint.modified == file.fingerprint.modified { return true }
        guard let hash = file.hash else { return false }
        do {
            return try Root(folder).spot(file.path).hash() == hash
        } catch {
            // What cannot be read tells nothing; the other files do.
            return false
        }
    }

    /// Nil also where a link is in the way.
    private static func status(_ path: BytePath, below folder: Descriptor) throws -> FileStatus? {
        do {
            return try Root(folder).spot(path).status()
        } catch let fault as Fault where [ENOENT, ENOTDIR, ELOOP, EXDEV].contains(fault.errno) {
            return nil
        }
    }

    private func record(_ place: PlaceInfo) throws -> PlaceRecord? {
        if let record = known.withLock({ $0[place.name] }) { return record }
        // One with another root is about to be registered anew.
        guard let record = try ledger.readBlocking({ try $0.place(place.name) }), record.root == place.root else {
            return nil
        }
        known.withLock { $0[place.name] = record }
        return record
    }

    private func updateRecord(_ place: PlaceInfo, _ change: (LedgerTransaction) throws -> Void) throws {
        let record = try ledger.writeBlocking { transaction in
            try change(transaction)
            return try transaction.place(place.name)
        }
        known.withLock { $0[place.name] = record }
    }
}
