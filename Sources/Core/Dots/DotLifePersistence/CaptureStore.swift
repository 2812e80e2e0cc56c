import DotLifeDomain
import Foundation
import GRDB
import OwnFiles
import Platform
import SQLiteFile

/// The captures on disk: `captures.sqlite` and the folders `photos` and `thumbnails` (docs/design/dot-store.md).
///
/// A capture is never in the store without its files, and a capture key never twice. A file is copied and synced before
/// its row is committed. Its name is derived from its content, and the row's id from the key, so that adding the same
/// capture again finds and uses the leftovers of a crash. Several processes may use one store.
package final class CaptureStore: Sendable {
    package let folder: BytePath
    let pool: DatabasePool
    private let grouped: GroupedWrites
    let photos: PhotoFolder
    let threads: BlockingPool
    let shrink: Thumbnailer?
    let complain: @Sendable (any Error) -> Void
    let clock: @Sendable () -> Timestamp

    /// Makes a thumbnail: a JPEG that fits ``thumbnailSide`` squared, rotated according to its EXIF data.
    ///
    /// It receives the store's own file, and decodes it in a separate process: this module decodes no pictures. An
    /// error from it applies to all pictures, such as a missing library.
    package typealias Thumbnailer = @Sendable (_ picture: Descriptor) async throws -> Thumbnail

    /// The outcome of a thumbnail.
    package enum Thumbnail: Sendable, Equatable {
        case made([UInt8])
        /// The picture cannot be decoded, with the reason.
        case failed(String)
    }

    /// The side in pixels of the square that a thumbnail fits (the original's 200 × 200).
    package static let thumbnailSide = 200

    private init(
        _ folder: BytePath, _ pool: DatabasePool, _ photos: PhotoFolder, _ threads: BlockingPool,
        _ shrink: Thumbnailer?, _ complain: @escaping @Sendable (any Error) -> Void,
        _ clock: @escaping @Sendable () -> Timestamp
    ) {
        self.folder = folder
        self.pool = pool
        grouped = GroupedWrites(pool)
        self.photos = photos
        self.threads = threads
        self.shrink = shrink
        self.complain = complain
        self.clock = clock
    }

    /// An opened store, with messages for a person about its state.
    package struct Opened: Sendable {
        package let store: CaptureStore
        /// Not empty if a corrupt database was set aside, or unused files could not be removed.
        package let notices: [String]
    }

    /// Opens the store in `folder`, or creates it.
    ///
    /// A corrupt database is renamed to `captures.sqlite.corrupt-<time>`, never deleted, and replaced by an empty one;
    /// without the check it is left as it is.
    ///
    /// - Parameters:
    ///   - checked: whether to check the database for damage first, which takes a second per few hundred thousand
    ///     captures. A command that only looks something up leaves that to the agent.
    ///   - thumbnailer: nil makes no thumbnails; ``makeThumbnails()`` makes them later.
    ///   - complain: receives the reasons for a missing thumbnail, with which the capture is stored regardless, and
    ///     failed repairs.
    /// - Throws: `Fault`; `.fatal` if a newer version wrote the database.
    package static func open(
        in folder: BytePath, checked: Bool = true, thumbnailer: Thumbnailer? = nil,
        complain: @escaping @Sendable (any Error) -> Void = { _ in },
        clock: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) async throws -> Opened {
        let threads = BlockingPool("captures")
        return try await threads.run {
            try Durable.makeDirectory(folder, mode: 0o700)
            let photos = try PhotoFolder(in: folder)
            // Under the lock, so that only one of two processes sets a corrupt store aside.
            return try photos.exclusively {
                var left = try photos.removeUnfinishedCopies()
                let path = folder.appending(Self.databaseName)
                let opened = try SQLiteFile(
                    path, of: "the captures", migrator: CaptureSchema.migrator, isChecked: checked,
                    checksIndexes: true,
                    // Keeps the rollback data of savepoints out of temporary files.
                    writerSettings: ["temp_store = MEMORY"],
                    whenCorrupt: checked
                        ? .setAside(
                            LossRegistry([folder]),
                            hint: "The photos are untouched; restore \(path) from a backup to have the captures back")
                        : .refused(
                            remedy: "put a backup in its place, or move it away; the photos are untouched")
                ).open(now: clock())
                let store = CaptureStore(folder, opened.pool, photos, threads, thumbnailer, complain, clock)
                left += try store.removeUnusedFiles().map(\.fault)
                // Unused files do no harm: the captures can be used regardless.
                return Opened(
                    store: store,
                    notices: opened.notices
                        + left.map { "\($0.message); no capture has it, and the next opening tries again" })
            }
        }
    }

    /// Closes the database; later calls fail. Checkpoints as much of the WAL as no other process still reads, without
    /// waiting for the rest.
    package func close() async throws {
        try await threads.run { [pool, folder] in
            do {
                do {
                    try pool.writeWithoutTransaction { db in
                        // A checkpoint would wait for readers, and block writers in the meantime.
                        try db.execute(sql: "PRAGMA busy_timeout = 0")
                        _ = try db.checkpoint(.truncate)
                    }
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    // Another process needs the log. Nothing is lost: the last process to close checkpoints it.
                }
                try pool.close()
            } catch {
                throw SQLiteFile.fault("close the captures in \(folder)", error)
            }
        }
    }

    /// The result of ``add(_:key:expecting:)``.
    package struct Added: Sendable, Equatable {
        package let record: ExperienceRecord
        /// False if the key existed already; nothing was changed then.
        package let isNew: Bool
    }

    /// Stores a capture once.
    ///
    /// - Parameters:
    ///   - key: derived from the job; a second call with it returns the first one's record, regardless of `request`.
    ///   - hash: the expected hash of the first attachment, in addition to the request's own.
    ///   - photo: the first attachment's file, already open; nil opens the path in the request.
    /// - Throws: `Fault`; `.failed` if the photo does not match `hash`, `.refused` if the request is not valid.
    package func add(
        _ request: ExperienceRequest, key: String, expecting hash: ContentHash? = nil, photo: Descriptor? = nil
    ) async throws -> Added {
        try await add(request, key: key, expecting: hash, opened: photo.map { [0: $0] } ?? [:])
    }

    /// The same for a capture of several files.
    ///
    /// - Parameter opened: the files that are open already, by index in `request.attachments`.
    package func add(
        _ request: ExperienceRequest, key: String, expecting hash: ContentHash? = nil, opened: [Int: Descriptor]
    ) async throws -> Added {
        try await insert(request, id: Self.id(forKey: key), key: key, expecting: hash, opened: opened)
    }

    /// Whether a capture with this key is in the store.
    package func contains(key: String) async throws -> Bool {
        try await record(key: key) != nil
    }

    /// The capture with this key, or nil.
    package func record(key: String) async throws -> ExperienceRecord? {
        try await read { try ExperienceRow.find(key: key, $0) }
    }

    /// Reverts a capture: removes the row, then its file. Called again after a crash, it finishes the removal.
    ///
    /// - Returns: the removed capture; nil if there was none.
    package func remove(key: String) async throws -> ExperienceRecord? {
        try await delete(Self.id(forKey: key)) { try ExperienceRow.find(key: key, $0) }.record
    }

    /// The path of an attachment.
    ///
    /// - Throws: `Fault` if the database has an impossible name.
    package func path(of attachment: AttachmentRecord) throws -> BytePath { try photos.path(attachment.localPath) }

    /// The path of an attachment's thumbnail; nil if there is none.
    package func thumbnailPath(of attachment: AttachmentRecord) throws -> BytePath? {
        try attachment.thumbnailPath.map { try photos.path($0, .thumbnails) }
    }

    /// The permanent id for a key (a version 8 UUID over its SHA-256).
    static func id(forKey key: String) -> UUID {
        var b = Array(ContentHash(of: key.utf8).bytes.prefix(16))
        b[6] = b[6] & 0x0F | 0x80
        b[8] = b[8] & 0x3F | 0x80
        return UUID(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            ))
    }
}

// MARK: - Building blocks of the repository

extension CaptureStore {
    func read<R: Sendable>(_ body: @escaping @Sendable (Database) throws -> R) async throws -> R {
        do {
            if BlockingPool.isCurrent(isolation: #isolation) { return try readBlocking(body) }
            return try await pool.read(body)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw SQLiteFile.fault("read the captures in \(folder)", error)
        }
    }

    private func readBlocking<R>(_ body: (Database) throws -> R) throws -> R { try pool.read(body) }

    func insert(
        _ request: ExperienceRequest, id: UUID, key: String?, expecting hash: ContentHash?,
        opened: [Int: Descriptor] = [:]
    ) async throws -> Added {
        guard !request.attachments.isEmpty else { return try await commitWithOthers(request, id, key) }
        let added = try await threads.run { [self] in
            let now = StoredTime.date(clock().nanoseconds)
            return try photos.exclusively {
                if let key, let found = try stored(key) { return Added(record: found, isNew: false) }
                return try placing(request.attachments, opened, expecting: hash) {
                    try commit(request, id, key, $0, now)
                }
            }
        }
        return Added(record: await withThumbnails(added.record), isNew: added.isNew)
    }

    /// Copies the files in and passes the record to `body` to commit; removes files that it does not use.
    func placing<R>(
        _ sources: [AttachmentSource], _ opened: [Int: Descriptor], expecting first: ContentHash?,
        _ body: ([AttachmentRecord]) throws -> R
    ) throws -> R {
        var placed: [String] = []
        do {
            var records: [AttachmentRecord] = []
            for (position, source) in sources.enumerated() {
                let stated = source.sha256.flatMap { ContentHash(hex: $0) }
                let stored = try photos.store(
                    source.content, opened[position], expecting: position == 0 ? first ?? stated : stated)
                if stored.isNew { placed.append(stored.name) }
                records.append(
                    AttachmentRecord(
                        id: UUID(), type: source.type ?? (stored.format == nil ? .file : .photo),
                        localPath: stored.name, originalName: source.originalName, sha256: stored.hash.description,
                        size: stored.size, position: position))
            }
            return try body(records)
        } catch {
            // After an I/O error the commit may still have reached the disk: the files must stay.
            if (error as? Fault)?.kind != .transient { for name in placed { try photos.remove(name) } }
            throw error
        }
    }

    private func stored(_ key: String) throws -> ExperienceRecord? {
        try using("read the captures in \(folder)") { try $0.read { try ExperienceRow.find(key: key, $0) } }
    }

    /// Commits concurrent captures together; each is durable when this returns.
    private func commitWithOthers(_ request: ExperienceRequest, _ id: UUID, _ key: String?) async throws -> Added {
        let now = StoredTime.date(clock().nanoseconds)
        do {
            return try await grouped.write { try Self.insert(request, id, key, [], now, $0) }
        } catch let failure as CommitFailure {
            throw storing(failure.cause)
        } catch {
            throw storing(error)
        }
    }

    private func commit(
        _ request: ExperienceRequest, _ id: UUID, _ key: String?, _ attachments: [AttachmentRecord], _ now: Date
    ) throws -> Added {
        do {
            return try pool.write { try Self.insert(request, id, key, attachments, now, $0) }
        } catch {
            throw storing(error)
        }
    }

    func storing(_ error: any Error) -> any Error {
        if let error = error as? ExperienceError { return Fault(.refused, error.description) }
        return SQLiteFile.fault("store the capture in \(folder)", error)
    }

    private static func insert(
        _ request: ExperienceRequest, _ id: UUID, _ key: String?, _ attachments: [AttachmentRecord], _ now: Date,
        _ db: Database
    ) throws -> Added {
        if let key, let found = try ExperienceRow.find(key: key, db) { return Added(record: found, isNew: false) }
        let record = ExperienceRecord(
            id: id, timestamp: request.timestamp ?? now, createdAt: now, momentType: request.momentType,
            experienceType: request.experienceType, noteText: request.noteText, linkURL: request.linkURL,
            attachments: attachments)
        return Added(record: try ExperienceRow.insert(record, key: key, db), isNew: true)
    }

    /// Deletes the row from `find`, then those of its files that no other row names; without a row, the leftovers of an
    /// interrupted deletion of `id`.
    func delete(
        _ id: UUID, _ find: @escaping @Sendable (Database) throws -> ExperienceRecord?
    ) async throws -> (record: ExperienceRecord?, hadLeftovers: Bool) {
        try await threads.run { [self] in
            try photos.exclusively {
                let record = try using("remove the capture from \(folder)") { pool in
                    try pool.write { db -> ExperienceRecord? in
                        guard let found = try find(db) else { return nil }
                        try db.execute(sql: "DELETE FROM experience WHERE id = ?", arguments: [found.id.uuidString])
                        for file in found.attachments { try UnusedFile.note(file, db) }
                        // The index keeps deleted words until its segments are merged.
                        try db.execute(sql: "INSERT INTO experience_text (experience_text) VALUES ('optimize')")
                        return found
                    }
                }
                try removeUnused(from: record?.attachments ?? [])
                // The log contains the words as well, and so do older versions of its pages.
                if record != nil, try !SQLiteFile.emptyLog(of: folder.appending(Self.databaseName)) {
                    complain(
                        Fault(
                            .transient,
                            "the capture is deleted, but its words stay in the log of \(folder) for now, as another process "
                                + "has been reading for long; they go when the store is next closed", path: folder))
                }
                return (record, record == nil ? try photos.removeLeftovers(of: id) : false)
            }
        }
    }

    /// Removes unused files.
    ///
    /// - Throws: the error if one of `files` could not be removed, because the caller asked for these; others were
    ///   reported when the store was opened.
    func removeUnused(from files: [AttachmentRecord]) throws {
        let own = Set(files.flatMap { [$0.localPath] + ($0.thumbnailPath.map { [$0] } ?? []) })
        for (file, fault) in try removeUnusedFiles() where own.contains(file.name) { throw fault }
    }

    /// Removes the files of removed captures, including those left by dead processes. Blocks; call only while the
    /// folder is locked.
    ///
    /// - Returns: the files that could not be removed, and why; the next call retries.
    private func removeUnusedFiles() throws -> [(file: UnusedFile, fault: Fault)] {
        let unused = try using("read the captures in \(folder)") { try $0.read(UnusedFile.all) }
        var done: [UnusedFile] = []
        var left: [(file: UnusedFile, fault: Fault)] = []
        for file in unused {
            do {
                if !file.isUsed { try photos.remove(file.name, file.folder) }
                done.append(file)
            } catch let fault as Fault {
                left.append((file, fault))
            }
        }
        if done.isEmpty { return left }
        try using("store what was removed from \(folder)") { [done] pool in
            try pool.write { db in for file in done { try file.forget(db) } }
        }
        return left
    }

    /// Uses the database on a thread that may block.
    func using<R>(_ doing: String, _ body: (DatabasePool) throws -> R) throws -> R {
        do {
            return try body(pool)
        } catch {
            throw SQLiteFile.fault(doing, error)
        }
    }
}
