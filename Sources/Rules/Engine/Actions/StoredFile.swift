import Ledger
import Platform

/// A job's file as stored in the ledger, by the name of its place. The configuration in force gives the place's root,
/// so a waiting job finds its file even if `places:` was changed.
struct StoredFile: Codable {
    /// Empty for a file outside of all places, such as in the trash.
    let place: String
    /// Relative to the place, with a hidden name as its token; the absolute path of a file outside of all places.
    let path: BytePath
    /// Written by earlier versions: the folder of `path` for a file outside of all places; otherwise ignored.
    let root: BytePath?
    let fingerprint: Fingerprint?
    let hash: ContentHash?
    let isFolder: Bool?
    /// Like `path`; nil if it had no other name.
    let former: BytePath?
    /// Like `former`.
    let renamedTo: BytePath?

    init(_ file: FileReference, hiding names: HiddenNames) throws {
        place = file.place
        path = try file.place.isEmpty ? names.stored(file.absolute) : names.stored(file.place, file.path)
        root = nil
        (fingerprint, hash) = (file.fingerprint, file.hash)
        isFolder = file.isFolder ? true : nil
        former = try file.former.map { try names.stored(file.place, $0) }
        renamedTo = try file.renamedTo.map { try names.stored(file.place, $0) }
    }

    /// Decodes the file without resolving its place.
    ///
    /// - Throws: as ``HiddenNames/requireLearned(_:)``.
    init(json: String, showing names: HiddenNames) throws {
        self = try LedgerJSON.decode(StoredFile.self, from: json)
        try requireLearned(names)
    }

    private func requireLearned(_ names: HiddenNames) throws {
        if !place.isEmpty, HiddenNames.isToken(names.shown(place, path)) { try names.requireLearned(place) }
    }

    /// - Throws: `Fault(.failed)` if the file's place is not configured any more; as
    ///   ``HiddenNames/requireLearned(_:)``.
    func located(in places: PlaceMap, showing names: HiddenNames) throws -> FileReference {
        let isFolder = isFolder ?? false
        guard !place.isEmpty else {
            let whole = names.shown(root?.appending(path) ?? path)
            return FileReference(
                place: "", root: whole.parent, path: BytePath(bytes: whole.name), fingerprint: fingerprint, hash: hash,
                isFolder: isFolder)
        }
        guard let root = places[name: place]?.root else {
            throw Fault(
                .failed,
                "its place `\(place)` is no longer in the configuration; put it back under `places:` if this should still be "
                    + "done")
        }
        try requireLearned(names)
        return FileReference(
            place: place, root: root, path: names.shown(place, path), fingerprint: fingerprint, hash: hash,
            isFolder: isFolder, former: former.map { names.shown(place, $0) },
            renamedTo: renamedTo.map { names.shown(place, $0) })
    }
}

extension FileReference {
    /// For ``init(stored:in:showing:)``.
    func stored(hiding names: HiddenNames) throws -> String { try LedgerJSON.encode(StoredFile(self, hiding: names)) }

    /// - Throws: as ``StoredFile/located(in:showing:)``; `Fault(.failed)` if this version cannot decode it.
    init(stored json: String, in places: PlaceMap, showing names: HiddenNames) throws {
        self = try LedgerJSON.decode(StoredFile.self, from: json).located(in: places, showing: names)
    }
}
