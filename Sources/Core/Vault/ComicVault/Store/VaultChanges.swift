import Platform

/// The result of removing a comic.
package struct RemovalReport: Sendable {
    package let entry: ComicEntry
    /// Objects whose header was left intact because their files have other hard links: a backup still holds them.
    package let shared: [ObjectID]
}

extension SealedVault {
    /// All comics, by name.
    package func list() throws -> [ComicEntry] {
        try unlocked().withManifest { $0.state.comics.values.sorted { ($0.name, $0.id) < ($1.name, $1.id) } }
    }

    /// The current state of the manifest.
    package func state() throws -> ManifestState { try unlocked().withManifest { $0.state } }

    package func freshness() throws -> ManifestFreshness { try unlocked().withManifest { $0.freshness } }

    /// - Throws: ``VaultError/noSuchComic(_:)``.
    package func comic(_ id: ComicID) throws -> ComicEntry {
        guard let entry = try unlocked().withManifest({ $0.state.comics[id] }) else {
            throw VaultError.noSuchComic(id.description)
        }
        return entry
    }

    package func comic(named name: BytePath) throws -> ComicEntry? {
        try unlocked().withManifest { $0.state.comic(named: name) }
    }

    package func comic(key: [UInt8]) throws -> ComicEntry? {
        try unlocked().withManifest { $0.state.comic(key: key) }
    }

    /// The comics with this content, oldest first.
    package func comics(content: ContentHash) throws -> [ComicEntry] {
        let session = try unlocked()
        let tag = try session.duplicateTag(content)
        return try session.withManifest { $0.state.comics(duplicateTag: tag) }
    }

    /// A comic with this content that reads completely, so that another copy may be removed. Reads all of it.
    ///
    /// - Returns: nil if there is none, or every one is missing or damaged.
    /// - Throws: ``VaultError/locked``; transient errors.
    package func wholeComic(content: ContentHash) throws -> ComicEntry? {
        try comics(content: content).first { try isWhole($0, content) }
    }

    private func isWhole(_ entry: ComicEntry, _ content: ContentHash) throws -> Bool {
        do {
            return try open(.archive, of: entry.id).verify() == content
        } catch let error as VaultError {
            if case .locked = error { throw error }
            guard error.fault.isLasting else { throw error }
            return false
        }
    }

    /// Renames a comic inside the vault; no object is touched.
    ///
    /// - Parameter numbers: whether a name that is taken is numbered instead of refused.
    /// - Returns: the comic with its new name.
    package func rename(_ id: ComicID, to name: BytePath, numbers: Bool = false) throws -> ComicEntry {
        let entry = try comic(id)
        if entry.name == name { return entry }
        return try unlocked().withManifest { manifest in
            let target = numbers ? try manifest.state.freeName(name) : name
            try manifest.append(.renamed(id, target))
            var renamed = entry
            renamed.name = target
            return renamed
        }
    }

    package func setProgress(_ progress: ReadingProgress?, of id: ComicID) throws {
        try unlocked().withManifest { try $0.append(.progress(id, progress)) }
    }

    package func addBookmark(_ bookmark: Bookmark, to id: ComicID) throws {
        try unlocked().withManifest { try $0.append(.bookmarked(id, bookmark)) }
    }

    package func removeBookmark(page: UInt32, of id: ComicID) throws {
        try unlocked().withManifest { try $0.append(.bookmarkRemoved(id, page: page)) }
    }

    /// Removes a comic for good: a tombstone, its objects' headers overwritten, the files unlinked, and a new snapshot
    /// without its title. Copies kept by a backup, a copy-on-write file system or a flash drive still open with the
    /// vault's key. On a full disk the objects go first, to make room for the tombstone; if the process dies in
    /// between, the comic is listed without its files and can be removed again.
    package func remove(_ id: ComicID) throws -> RemovalReport {
        try unlocked().withManifest { manifest in
            guard let entry = manifest.state.comics[id] else { throw VaultError.noSuchComic(id.description) }
            let record = ManifestRecord.removed(id, objects: entry.objects.map(\.id), .now())
            let shared: [ObjectID]
            do {
                try manifest.append(record)
                shared = try destroy(entry)
            } catch  where isFullDisk(error) {
                shared = try destroy(entry)
                // It was recorded; only the mark failed.
                if manifest.state.comics[id] == nil { try manifest.confirm() } else { try manifest.append(record) }
            }
            try manifest.consolidate()
            return RemovalReport(entry: entry, shared: shared)
        }
    }

    /// - Returns: objects whose header was left intact.
    private func destroy(_ entry: ComicEntry) throws -> [ObjectID] {
        try entry.objects.filter { try !objects.destroy(VaultLayout.object($0.id)) }.map(\.id)
    }

    /// Writes a new snapshot, after which no manifest file holds removed or former names.
    package func consolidate() throws { try unlocked().withManifest { try $0.consolidate() } }
}
