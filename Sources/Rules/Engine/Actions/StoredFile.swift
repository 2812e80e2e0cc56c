import Ledger
import Platform

/// A job's file as the ledger keeps it: by the name of its place. Where that place lies is for the configuration in force
/// to say, so a job that has waited while `places:` was changed finds its file in the new folder.
struct StoredFile: Codable {
    /// Empty for a file that lies in no place, as in the trash.
    let place: String
    /// Below the place, a hidden name as its token; of a file in no place the whole path.
    let path: BytePath
    /// Of a file in no place, as earlier versions wrote it: then `path` is below it. Theirs of places are not believed.
    let root: BytePath?
    let fingerprint: Fingerprint?
    let hash: ContentHash?
    let isFolder: Bool?

    init(_ file: FileReference, hiding names: HiddenNames) throws {
        place = file.place
        path = try file.place.isEmpty ? names.stored(file.absolute) : names.stored(file.place, file.path)
        root = nil
        (fingerprint, hash) = (file.fingerprint, file.hash)
        isFolder = file.isFolder ? true : nil
    }

    /// Reads it without asking where its place lies.
    ///
    /// - Throws: as ``HiddenNames/requireLearned(_:)``.
    init(json: String, showing names: HiddenNames) throws {
        self = try LedgerJSON.decode(StoredFile.self, from: json)
        try requireLearned(names)
    }

    private func requireLearned(_ names: HiddenNames) throws {
        if !place.isEmpty, HiddenNames.isToken(names.shown(place, path)) { try names.requireLearned(place) }
    }

    /// - Throws: `Fault(.failed)` where the file's place is configured no more; as ``HiddenNames/requireLearned(_:)``.
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
                "its place `\(place)` is not in the configuration any more; put it back under `places:` if this is still to be "
                    + "done")
        }
        try requireLearned(names)
        return FileReference(
            place: place, root: root, path: names.shown(place, path), fingerprint: fingerprint, hash: hash,
            isFolder: isFolder)
    }
}

extension FileReference {
    /// For ``init(stored:in:showing:)``.
    func stored(hiding names: HiddenNames) throws -> String { try LedgerJSON.encode(StoredFile(self, hiding: names)) }

    /// - Throws: as ``StoredFile/located(in:showing:)``; `Fault(.failed)` for what this version cannot read.
    init(stored json: String, in places: PlaceMap, showing names: HiddenNames) throws {
        self = try LedgerJSON.decode(StoredFile.self, from: json).located(in: places, showing: names)
    }
}
