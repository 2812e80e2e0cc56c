import Platform

/// Identifies a comic of the vault for its lifetime; stays the same when it is renamed.
package struct ComicID: VaultIdentifier {
    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

/// A sealed object as the manifest records it: enough to tell from its first and last bytes that it was swapped.
package struct ObjectReference: Hashable, Sendable {
    package let id: ObjectID
    package let kind: ObjectKind
    /// Bytes of the content, without padding.
    package let length: UInt64
    /// 32 bytes, from the object's header.
    package let headerMAC: [UInt8]
    /// 16 bytes, the tag of the object's last chunk.
    package let lastTag: [UInt8]

    package init(id: ObjectID, kind: ObjectKind, length: UInt64, headerMAC: [UInt8], lastTag: [UInt8]) {
        self.id = id
        self.kind = kind
        self.length = length
        self.headerMAC = headerMAC
        self.lastTag = lastTag
    }
}

/// The fields that a list of comics shows without opening an object; all others are in the comic's metadata object.
package struct ComicSummary: Hashable, Sendable {
    package var title: String
    package var series: String
    package var number: String
    package var pages: UInt32
    /// The archive's format: `zip`, `rar`, `7z`, …
    package var format: String

    package init(title: String = "", series: String = "", number: String = "", pages: UInt32 = 0, format: String = "") {
        self.title = title
        self.series = series
        self.number = number
        self.pages = pages
        self.format = format
    }
}

/// One comic of the vault.
package struct ComicEntry: Hashable, Sendable {
    package let id: ComicID
    /// A single file name; unique in the vault.
    package var name: BytePath
    /// The archive first.
    package let objects: [ObjectReference]
    package let summary: ComicSummary
    /// `HMAC(K_dedup, SHA-256(archive))`, 32 bytes.
    package let duplicateTag: [UInt8]
    /// The source, as described by the caller that added it.
    package let source: String
    /// The caller's idempotency key: an import adds one comic however often it is retried. May be empty.
    package let key: [UInt8]
    /// The deposit from which it was resealed, if any.
    package let drop: ObjectID?
    package let added: Timestamp

    package init(
        id: ComicID, name: BytePath, objects: [ObjectReference], summary: ComicSummary, duplicateTag: [UInt8],
        source: String, key: [UInt8] = [], drop: ObjectID? = nil, added: Timestamp
    ) {
        self.id = id
        self.name = name
        self.objects = objects
        self.summary = summary
        self.duplicateTag = duplicateTag
        self.source = source
        self.key = key
        self.drop = drop
        self.added = added
    }

    package func object(_ kind: ObjectKind) -> ObjectReference? { objects.first { $0.kind == kind } }

    /// Bytes of the archive.
    package var size: UInt64 { object(.archive)?.length ?? 0 }

    /// Checks the entry's own limits.
    ///
    /// - Throws: `Fault(.refused)` if no vault accepts the entry.
    func check() throws {
        try Self.check(name: name)
        let kinds = objects.map(\.kind)
        let texts = [summary.title, summary.series, summary.number, summary.format, source].map(\.utf8.count)
        guard kinds.first == .archive, Set(kinds).count == kinds.count, objects.allSatisfy(\.isWhole),
            Set(kinds).isSubset(of: [.archive, .pagePack, .thumbnails, .metadata]), duplicateTag.count == 32
        else {
            throw Fault(.failed, "\(name) does not come with one archive object first; please report it")
        }
        guard texts.allSatisfy({ $0 <= 8192 }), key.count <= 8192 else {
            throw Fault(.refused, "the title, series or source of \(name) is longer than 8,192 bytes")
        }
    }

    static func check(name: BytePath) throws {
        guard name.components.count == 1, !name.isAbsolute, name != ".", name != "..", name.bytes.count <= 255 else {
            throw Fault(.refused, "“\(name)” cannot name a comic: it must be one file name of at most 255 bytes")
        }
    }
}

extension ObjectReference {
    fileprivate var isWhole: Bool { headerMAC.count == 32 && lastTag.count == AESGCM.tagSize }
}

/// How far a comic has been read.
package struct ReadingProgress: Hashable, Sendable {
    /// Counted from 0.
    package let page: UInt32
    package let isFinished: Bool
    package let time: Timestamp

    package init(page: UInt32, isFinished: Bool, time: Timestamp) {
        self.page = page
        self.isFinished = isFinished
        self.time = time
    }
}

/// A page that a reader has marked.
package struct Bookmark: Hashable, Sendable {
    /// Counted from 0.
    package let page: UInt32
    /// At most 8,192 bytes.
    package let note: String
    package let time: Timestamp

    package init(page: UInt32, note: String, time: Timestamp) {
        self.page = page
        self.note = note
        self.time = time
    }
}
