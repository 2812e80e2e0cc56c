import Platform

/// The state of the manifest, folded from its snapshot and the records after it.
package struct ManifestState: Sendable, Equatable {
    package private(set) var comics: [ComicID: ComicEntry] = [:]
    package private(set) var progress: [ComicID: ReadingProgress] = [:]
    /// By page.
    package private(set) var bookmarks: [ComicID: [UInt32: Bookmark]] = [:]
    /// Objects that are destroyed if they turn up again; kept forever.
    package private(set) var tombstones: Set<ObjectID> = []

    private var names: [BytePath: ComicID] = [:]
    private var contents: [[UInt8]: Set<ComicID>] = [:]
    private var keys: [[UInt8]: ComicID] = [:]
    private var owners: [ObjectID: ComicID] = [:]

    package init() {}

    package func comic(named name: BytePath) -> ComicEntry? { names[name].flatMap { comics[$0] } }

    /// - Parameter key: as given when it was added; the empty key finds nothing.
    package func comic(key: [UInt8]) -> ComicEntry? { keys[key].flatMap { comics[$0] } }

    /// The comics with this content, oldest first; see ``VaultKeys/duplicateTag(_:)``.
    package func comics(duplicateTag: [UInt8]) -> [ComicEntry] {
        (contents[duplicateTag] ?? []).compactMap { comics[$0] }.sorted { ($0.added, $0.id) < ($1.added, $1.id) }
    }

    package func comic(owning object: ObjectID) -> ComicEntry? { owners[object].flatMap { comics[$0] } }

    /// Every object that must exist.
    package var objects: [ObjectReference] { comics.values.flatMap(\.objects) }

    /// `name` itself if it is free, else the first free one of `name (1).cbz`, `name (2).cbz`, …
    package func freeName(_ name: BytePath) throws -> BytePath {
        try ComicEntry.check(name: name)
        guard let free = Mover.alternatives(name).first(where: { names[$0] == nil }) else {
            throw Fault(.failed, "10,000 comics are called like \(name) already; choose another name")
        }
        return free
    }

    /// Checks that a change is consistent with the state.
    ///
    /// - Throws: `Fault` if it is not.
    package func check(_ record: ManifestRecord) throws {
        switch record {
        case .follows: break
        case .added(let entry): try checkAddition(entry)
        case .removed(let id, let objects, _):
            let entry = try entry(id)
            guard Set(objects) == Set(entry.objects.map(\.id)) else {
                throw Fault(.failed, "a tombstone does not name the objects of \(entry.name); please report it")
            }
        case .renamed(let id, let name):
            let entry = try entry(id)
            try ComicEntry.check(name: name)
            guard names[name] == nil || names[name] == entry.id else {
                throw Fault(.refused, "a comic called \(name) is in the vault already; remove or rename that one first")
            }
        case .bookmarked(let id, let bookmark):
            _ = try entry(id)
            guard bookmark.note.utf8.count <= 8192 else {
                throw Fault(.refused, "the note of a bookmark has more than 8,192 bytes")
            }
        case .progress(let id, _), .bookmarkRemoved(let id, _): _ = try entry(id)
        }
    }

    /// Applies one change.
    ///
    /// - Throws: like ``check(_:)``, with nothing changed.
    package mutating func apply(_ record: ManifestRecord) throws {
        try check(record)
        switch record {
        case .follows: break
        case .added(let entry): add(entry)
        case .removed(let id, let objects, _):
            forget(try entry(id))
            tombstones.formUnion(objects)
        case .renamed(let id, let name):
            names[try entry(id).name] = nil
            names[name] = id
            comics[id]?.name = name
        case .progress(let id, let value): progress[id] = value
        case .bookmarked(let id, let bookmark): bookmarks[id, default: [:]][bookmark.page] = bookmark
        case .bookmarkRemoved(let id, let page):
            bookmarks[id]?[page] = nil
            if bookmarks[id]?.isEmpty == true { bookmarks[id] = nil }
        }
    }

    /// Applies a tombstone from a snapshot, whose comic is long gone.
    mutating func bury(_ object: ObjectID) { tombstones.insert(object) }

    private func entry(_ id: ComicID) throws -> ComicEntry {
        guard let entry = comics[id] else { throw Fault(.refused, "no comic \(id) is in the vault") }
        return entry
    }

    private func checkAddition(_ entry: ComicEntry) throws {
        try entry.check()
        guard comics[entry.id] == nil, entry.key.isEmpty || keys[entry.key] == nil else {
            throw Fault(.refused, "\(entry.name) is in the vault already")
        }
        guard names[entry.name] == nil else {
            throw Fault(.refused, "a comic called \(entry.name) is in the vault already; rename one of the two")
        }
        for object in entry.objects where owners[object.id] != nil || tombstones.contains(object.id) {
            throw Fault(.failed, "object \(object.id) of \(entry.name) belongs to another comic; please report it")
        }
    }

    private mutating func add(_ entry: ComicEntry) {
        comics[entry.id] = entry
        names[entry.name] = entry.id
        contents[entry.duplicateTag, default: []].insert(entry.id)
        if !entry.key.isEmpty { keys[entry.key] = entry.id }
        for object in entry.objects { owners[object.id] = entry.id }
    }

    private mutating func forget(_ entry: ComicEntry) {
        comics[entry.id] = nil
        progress[entry.id] = nil
        bookmarks[entry.id] = nil
        names[entry.name] = nil
        contents[entry.duplicateTag]?.remove(entry.id)
        if contents[entry.duplicateTag]?.isEmpty == true { contents[entry.duplicateTag] = nil }
        if !entry.key.isEmpty { keys[entry.key] = nil }
        for object in entry.objects { owners[object.id] = nil }
    }
}
