import Platform

/// A point on the manifest's chain: the last record, or the snapshot itself, with `seq` 0.
package struct ManifestHead: Hashable, Sendable, CustomStringConvertible {
    /// Counts the snapshots, from 1.
    package let gen: UInt64
    /// Counts the records since the snapshot.
    package let seq: UInt64
    /// 16 bytes, which depend on everything before them.
    package let tag: [UInt8]

    package init(gen: UInt64, seq: UInt64, tag: [UInt8]) {
        self.gen = gen
        self.seq = seq
        self.tag = tag
    }

    package var description: String { "generation \(gen), record \(seq), \(hexadecimal(tag.prefix(4)))" }

    func encode(into encoder: inout RecordEncoder) {
        encoder.integer(gen)
        encoder.integer(seq)
        encoder.fixed(tag)
    }

    init(from decoder: inout RecordDecoder) throws {
        self.init(
            gen: try decoder.integer("gen"), seq: try decoder.integer("seq"),
            tag: try decoder.fixed("head", AESGCM.tagSize))
    }
}

/// One change to the vault's content.
package enum ManifestRecord: Hashable, Sendable {
    /// The first record of every log: the log before it, or nil for the snapshot, and that log's final head.
    case follows(log: UInt64?, ManifestHead)
    case added(ComicEntry)
    /// The tombstone: these objects are destroyed if they turn up again.
    case removed(ComicID, objects: [ObjectID], Timestamp)
    case renamed(ComicID, BytePath)
    case progress(ComicID, ReadingProgress?)
    case bookmarked(ComicID, Bookmark)
    case bookmarkRemoved(ComicID, page: UInt32)

    private enum Tag: UInt8 {
        case follows = 0, added, removed, renamed, progress, bookmarked, bookmarkRemoved
    }

    /// The plaintext to seal: one byte for the case, then its fields.
    package var encoded: [UInt8] {
        var encoder = RecordEncoder()
        switch self {
        case .follows(let log, let head):
            encoder.integer(Tag.follows.rawValue)
            encoder.optional(log) { $0.integer($1) }
            head.encode(into: &encoder)
        case .added(let entry):
            encoder.integer(Tag.added.rawValue)
            entry.encode(into: &encoder)
        case .removed(let comic, let objects, let time):
            encoder.integer(Tag.removed.rawValue)
            encoder.fixed(comic.bytes)
            encoder.list(objects) { $0.fixed($1.bytes) }
            encoder.integer(time.nanoseconds)
        case .renamed(let comic, let name):
            encoder.integer(Tag.renamed.rawValue)
            encoder.fixed(comic.bytes)
            encoder.counted(name.bytes)
        case .progress(let comic, let progress):
            encoder.integer(Tag.progress.rawValue)
            encoder.fixed(comic.bytes)
            encoder.optional(progress) { $1.encode(into: &$0) }
        case .bookmarked(let comic, let bookmark):
            encoder.integer(Tag.bookmarked.rawValue)
            encoder.fixed(comic.bytes)
            bookmark.encode(into: &encoder)
        case .bookmarkRemoved(let comic, let page):
            encoder.integer(Tag.bookmarkRemoved.rawValue)
            encoder.fixed(comic.bytes)
            encoder.integer(page)
        }
        return encoder.bytes
    }

    /// - Throws: ``RecordDecoder/Mismatch`` for bytes that ``encoded`` does not produce.
    init(decoding bytes: [UInt8]) throws {
        var decoder = RecordDecoder(bytes)
        guard let tag = Tag(rawValue: try decoder.integer("record")) else {
            throw RecordDecoder.Mismatch(field: "record")
        }
        switch tag {
        case .follows:
            self = .follows(
                log: try decoder.optional("log") { try $0.integer("log") }, try ManifestHead(from: &decoder))
        case .added:
            self = .added(try ComicEntry(from: &decoder))
        case .removed:
            self = .removed(
                try decoder.identifier("comic"),
                objects: try decoder.list("objects") { try $0.identifier("object") },
                Timestamp(nanoseconds: try decoder.integer("time")))
        case .renamed:
            self = .renamed(try decoder.identifier("comic"), BytePath(bytes: try decoder.counted("name")))
        case .progress:
            self = .progress(
                try decoder.identifier("comic"),
                try decoder.optional("progress") { try ReadingProgress(from: &$0) })
        case .bookmarked:
            self = .bookmarked(try decoder.identifier("comic"), try Bookmark(from: &decoder))
        case .bookmarkRemoved:
            self = .bookmarkRemoved(try decoder.identifier("comic"), page: try decoder.integer("page"))
        }
        try decoder.end()
    }
}
