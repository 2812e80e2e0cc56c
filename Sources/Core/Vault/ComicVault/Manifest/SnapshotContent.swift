import Platform

/// The content of a snapshot: the whole state, and the final head of every earlier generation.
struct SnapshotContent: Sendable, Equatable {
    let gen: UInt64
    /// Of the generations before this one, oldest first; a host's high-water mark may still be at one of them.
    let heads: [ManifestHead]
    let state: ManifestState

    private static let version: UInt8 = 1

    var encoded: [UInt8] {
        var encoder = RecordEncoder()
        encoder.integer(Self.version)
        encoder.integer(gen)
        encoder.list(heads) { $1.encode(into: &$0) }
        encoder.list(state.tombstones.sorted()) { $0.fixed($1.bytes) }
        encoder.list(state.comics.values.sorted { $0.id < $1.id }) { encoder, comic in
            comic.encode(into: &encoder)
            encoder.optional(state.progress[comic.id]) { $1.encode(into: &$0) }
            let bookmarks = (state.bookmarks[comic.id] ?? [:]).values.sorted { $0.page < $1.page }
            encoder.list(bookmarks) { $1.encode(into: &$0) }
        }
        return encoder.bytes
    }

    init(gen: UInt64, heads: [ManifestHead], state: ManifestState) {
        self.gen = gen
        self.heads = heads
        self.state = state
    }

    /// - Throws: ``ManifestDamage/snapshot(gen:why:)`` for bytes that ``encoded`` does not produce.
    init(decoding bytes: [UInt8], gen: UInt64) throws {
        do {
            var decoder = RecordDecoder(bytes)
            guard try decoder.integer("version", UInt8.self) == Self.version else {
                throw RecordDecoder.Mismatch(field: "version")
            }
            guard try decoder.integer("gen", UInt64.self) == gen else { throw RecordDecoder.Mismatch(field: "gen") }
            self.gen = gen
            heads = try decoder.list("heads") { try ManifestHead(from: &$0) }
            guard heads.allSatisfy({ $0.gen < gen }), zip(heads, heads.dropFirst()).allSatisfy({ $0.gen < $1.gen })
            else { throw RecordDecoder.Mismatch(field: "heads") }
            var state = ManifestState()
            for object in try decoder.list("tombstones", { try $0.identifier("tombstone", ObjectID.self) }) {
                state.bury(object)
            }
            _ = try decoder.list("comics") { decoder in
                let comic = try ComicEntry(from: &decoder)
                try state.apply(.added(comic))
                if let progress = try decoder.optional("progress", { try ReadingProgress(from: &$0) }) {
                    try state.apply(.progress(comic.id, progress))
                }
                for bookmark in try decoder.list("bookmarks", { try Bookmark(from: &$0) }) {
                    try state.apply(.bookmarked(comic.id, bookmark))
                }
            }
            try decoder.end()
            self.state = state
        } catch let mismatch as RecordDecoder.Mismatch {
            throw ManifestDamage.snapshot(gen: gen, why: "this version cannot read its field “\(mismatch.field)”")
        } catch let fault as Fault {
            throw ManifestDamage.snapshot(gen: gen, why: fault.message)
        }
    }
}
