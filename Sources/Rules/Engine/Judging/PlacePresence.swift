import Glibc
import Ledger
import Platform
import Synchronization

/// Whether a place is here or away: whether the folder at its path is the one with its known files, rather than the
/// bare mount point of an unmounted disk or a recreated folder. Nothing is concluded about a place that is away, and
/// nothing is written into it. All methods block unless they say otherwise.
package final class PlacePresence: Sendable {
    package enum Look: Sendable {
        /// The place's own folder.
        case here(Descriptor)
        /// There is another folder at its path.
        case other(Descriptor)
        /// Another agent handles the place; this one neither judges nor writes files there.
        case inUse(PlaceHolder)
        case missing
    }

    private let ledger: Ledger
    /// nil if rules are only read or planned, so that nothing changes in places.
    package let claims: PlaceClaims?
    let places: PlaceMap
    package let pool = BlockingPool("places", threads: 4, perBulkhead: true)
    /// The ledger's row of each place looked at so far.
    private let known = Mutex<[String: PlaceRecord]>([:])

    init(ledger: Ledger, places: PlaceMap, claims: PlaceClaims?) {
        self.ledger = ledger
        self.places = places
        self.claims = claims
    }

    var placeNames: [String] { places.places.map(\.name) }

    func place(named name: String) -> PlaceInfo? { places[name: name] }

    /// Looks at the folder at the place's path, and records in the ledger if it has changed.
    ///
    /// - Parameter anew: whether to search a folder known not to be the place's for its files again.
    package func look(at place: PlaceInfo, anew: Bool = false) throws -> Look {
        let look = try lookAtFolder(of: place, anew: anew)
        switch look {
        case .here(let folder): return try claims?.claim(place, in: folder).map(Look.inUse) ?? look
        // A bare mount point may stay empty forever; it is claimed only once there is something in it.
        case .other(let folder): try claims?.leave(place, for: folder)
        case .inUse, .missing: try claims?.leave(place)
        }
        return look
    }

    private func lookAtFolder(of place: PlaceInfo, anew: Bool) throws -> Look {
        guard let folder = try FolderIdentity.open(place.root) else { return .missing }
        // A place unknown to the ledger has no files that could be away.
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

    /// The other agent that handles the folder at the place's path; nil if this process does, or there is no folder.
    package func holder(of place: PlaceInfo) throws -> PlaceHolder? {
        switch try look(at: place) {
        case .here, .missing: return nil
        case .other(let folder): return try claims?.claim(place, in: folder)
        case .inUse(let holder): return holder
        }
    }

    /// Accepts the folder now at the path as the place, whatever was known before.
    ///
    /// - Throws: `Fault(.transient)` if there is none.
    package func accept(_ place: PlaceInfo) throws {
        guard let folder = try FolderIdentity.open(place.root) else { throw Self.away(place, "it is not there") }
        let now = try FolderIdentity(folder)
        try updateRecord(place) { try $0.setPlaceHere(place.name, now) }
    }

    /// The folder at the place's path, for access to its files. This may be another folder, whose own files are then
    /// new. Call ``require(_:)`` before writing into the place.
    ///
    /// - Throws: `Fault(.transient)` if there is none, or another agent handles it.
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

    /// Whether a missing file of the place is really gone; nil if it is there after all. A place that is away is no
    /// evidence, and neither is the token of a hidden file that may exist under a name not known yet.
    func isGone(_ path: BytePath, in place: PlaceInfo) throws -> Bool? {
        if ledger.names.mayExist(place.name, path) { return false }
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

    /// - Throws: `Fault(.transient)` if the path's place is away, or in use by another agent.
    package func require(_ path: BytePath) throws { if let fault = try absence(of: path) { throw fault } }

    package func isHere(_ path: BytePath) throws -> Bool { try absence(of: path) == nil }

    /// A transient fault if the path's place is away or in use; otherwise nil.
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
        case .other: return Self.away(place, "the folder there is a different one and lacks the known files")
        }
    }

    /// Start of the message of a job that waits for the place.
    package static func awayMessage(_ place: PlaceInfo) -> String { "the place \(place.name) is away" }

    /// Start of the message of a job that waits for another agent to end.
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

    /// - Parameter byName: whether any file with that name counts, whatever its content.
    private static func isThere(_ file: FileRecord, _ folder: Descriptor, byName: Bool) throws -> Bool {
        guard let status = try status(file.path, below: folder), status.kind == .file else { return false }
        if byName { return true }
        guard status.size == file.fingerprint.size else { return false }
        if status.fingerprint.modified == file.fingerprint.modified { return true }
        guard let hash = file.hash else { return false }
        do {
            return try Root(folder).entry(file.path).hash() == hash
        } catch {
            // An unreadable file proves nothing; the other files decide.
            return false
        }
    }

    /// Also nil if a symlink is in the way.
    private static func status(_ path: BytePath, below folder: Descriptor) throws -> FileStatus? {
        do {
            return try Root(folder).entry(path).status()
        } catch let fault as Fault where [ENOENT, ENOTDIR, ELOOP, EXDEV].contains(fault.errno) {
            return nil
        }
    }

    private func record(_ place: PlaceInfo) throws -> PlaceRecord? {
        if let record = known.withLock({ $0[place.name] }) { return record }
        // A row with another root is about to be registered again.
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
