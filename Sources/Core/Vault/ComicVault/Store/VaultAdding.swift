import Platform

/// A comic to be added.
package struct NewComic {
    package let name: BytePath
    /// The untouched original.
    package let archive: ObjectContent
    /// SHA-256 of the archive, from the validating pass.
    package let hash: ContentHash
    /// Metadata, thumbnails and page pack, one of each kind at most.
    package let parts: [(kind: ObjectKind, content: ObjectContent)]
    package let summary: ComicSummary
    package let source: String
    /// The caller's idempotency key: the same key adds nothing a second time. May be empty.
    package let key: [UInt8]
    package let drop: ObjectID?

    package init(
        name: BytePath, archive: ObjectContent, hash: ContentHash,
        parts: [(kind: ObjectKind, content: ObjectContent)] = [], summary: ComicSummary = ComicSummary(),
        source: String = "", key: [UInt8] = [], drop: ObjectID? = nil
    ) {
        self.name = name
        self.archive = archive
        self.hash = hash
        self.parts = parts
        self.summary = summary
        self.source = source
        self.key = key
        self.drop = drop
    }
}

/// The policy for a comic whose bytes are in the vault already.
package enum DuplicatePolicy: Sendable { case skip, keep }

package enum AddOutcome: Sendable, Equatable {
    case added(ComicEntry)
    /// This import had been recorded before.
    case alreadyAdded(ComicEntry)
    /// The same bytes are there; nothing was added.
    case duplicate(of: ComicEntry)

    package var entry: ComicEntry {
        switch self {
        case .added(let entry), .alreadyAdded(let entry), .duplicate(let entry): entry
        }
    }

    var isNew: Bool { if case .added = self { true } else { false } }
}

extension SealedVault {
    /// Seals a comic and records it. When this returns, the comic is durable, read back and verified, and its source
    /// may be removed. A name that is taken is numbered: `name (1).cbz`.
    ///
    /// - Throws: ``VaultError/contentChanged(_:)``, ``VaultError/encryptionFailed(underlying:)``,
    ///   ``VaultError/rolledBack(mark:disk:)``, `Fault`. Nothing is in the vault then, unless the failure came after
    ///   the record: the same ``NewComic/key`` finds it.
    package func add(_ comic: NewComic, duplicates: DuplicatePolicy = .skip) throws -> AddOutcome {
        try ComicEntry.check(name: comic.name)
        let session = try unlocked()
        let tag = try session.duplicateTag(comic.hash)
        let before = try session.withManifest { manifest in
            try manifest.requireKnown()
            return try Self.known(comic, tag, duplicates, manifest)
        }
        if let before { return before }
        var made = [try objects.seal(.archive, comic.archive, session)]
        guard made[0].sealed.hash == comic.hash else { throw VaultError.contentChanged(comic.name) }
        for part in comic.parts { made.append(try objects.seal(part.kind, part.content, session)) }
        return try objects.name(made, host, session) { willName in
            try session.withManifest { manifest in
                if let known = try Self.known(comic, tag, duplicates, manifest) { return (known, isNamed: false) }
                let entry = ComicEntry(
                    id: try .random(), name: try manifest.state.freeName(comic.name),
                    objects: made.map(\.sealed.reference), summary: comic.summary, duplicateTag: tag,
                    source: comic.source, key: comic.key, drop: comic.drop, added: .now())
                try manifest.requireKnown()
                try manifest.state.check(.added(entry))
                willName()
                try manifest.append(.added(entry))
                return (.added(entry), isNamed: true)
            }
        }
    }

    var objects: VaultObjects { VaultObjects(folder) }

    private static func known(
        _ comic: NewComic, _ tag: [UInt8], _ duplicates: DuplicatePolicy, _ manifest: Manifest
    ) throws -> AddOutcome? {
        if let entry = manifest.state.comic(key: comic.key) {
            try manifest.confirm()
            return .alreadyAdded(entry)
        }
        guard duplicates == .skip, let first = manifest.state.comics(duplicateTag: tag).first else { return nil }
        try manifest.confirm()
        return .duplicate(of: first)
    }
}
