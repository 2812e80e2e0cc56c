import DotLifeDomain
import Foundation
import GRDB
import OwnFiles
import Platform
import SQLiteFile

/// The captures on disk: `captures.sqlite` and the folder `photos` (seed section 9).
///
/// A capture is never in the store without its file, and one capture key never twice: a photo is copied and synced
/// before its row is committed, and both its id and its file's name follow from the key, so that whatever a crash left
/// is found and used when the same capture is added again. Several processes may use one store.
package final class CaptureStore: Sendable {
    package let folder: BytePath
    private let pool: DatabasePool
    private let photos: PhotoFolder
    private let lane: BlockingLane
    private let clock: @Sendable () -> Timestamp

    private init(
        _ folder: BytePath, _ pool: DatabasePool, _ photos: PhotoFolder, _ lane: BlockingLane,
        _ clock: @escaping @Sendable () -> Timestamp
    ) {
        self.folder = folder
        self.pool = pool
        self.photos = photos
        self.lane = lane
        self.clock = clock
    }

    /// An opened store, and what a person should know about how it was found.
    package struct Opened: Sendable {
        package let store: CaptureStore
        /// Not empty where a corrupt database was set aside.
        package let notices: [String]
    }

    /// Opens the store in `folder`, or makes it.
    ///
    /// A corrupt database is renamed to `captures.sqlite.corrupt-<time>`, never deleted, and an empty one begun.
    ///
    /// - Throws: `Fault`; `.fatal` where a newer version wrote the database.
    package static func open(
        in folder: BytePath, clock: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) async throws -> Opened {
        let lane = BlockingLane("captures")
        return try await lane.run {
            try Durable.makeDirectory(folder, mode: 0o700)
            let photos = try PhotoFolder(in: folder)
            // Under the lock, so that of two processes that find it corrupt only one sets it aside.
            return try photos.exclusively {
                try photos.removeUnfinishedCopies()
                let path = folder.appending("captures.sqlite")
                let opened = try SQLiteFile(
                    path, of: "the captures", migrator: CaptureSchema.migrator, checksIndexes: true,
                    whenCorrupt: .setAside(
                        hint: "The photos are untouched; restore \(path) from a backup to have the captures back")
                ).open(now: clock())
                return Opened(
                    store: CaptureStore(folder, opened.pool, photos, lane, clock), notices: opened.notices)
            }
        }
    }

    /// Ends all use of the database; later calls fail. The log is folded into it, unless another process still reads.
    package func close() async throws {
        try await lane.run { [pool, folder] in
            do {
                do {
                    try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    // The log stays where it is, and loses nothing: whoever closes last folds it in.
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
        /// False where the key was there already; nothing was changed then.
        package let isNew: Bool
    }

    /// Stores a capture once.
    ///
    /// - Parameters:
    ///   - key: derived from the job; a second call with it gives the first one's record, whatever `request` says.
    ///   - hash: what the photo's file must hold.
    ///   - photo: the photo's file, already open; nil opens the path that the request names.
    /// - Throws: `Fault`; `.failed` where the photo is not what `hash` says, `.refused` where the request is not valid.
    package func add(
        _ request: ExperienceRequest, key: String, expecting hash: ContentHash? = nil, photo: Descriptor? = nil
    ) async throws -> Added {
        try await insert(request, id: Self.id(forKey: key), key: key, expecting: hash, opened: photo)
    }

    /// Whether a capture with this key is in the store.
    package func contains(key: String) async throws -> Bool {
        try await record(key: key) != nil
    }

    /// The capture with this key, or nil.
    package func record(key: String) async throws -> ExperienceRecord? {
        try await read { try ExperienceRow.find(key: key, $0) }
    }

    /// Takes a capture back: the row, then its file. Called again after a crash it finishes what was left.
    ///
    /// - Returns: what was removed; nil where no such capture was there.
    package func remove(key: String) async throws -> ExperienceRecord? {
        try await delete(Self.id(forKey: key)) { try ExperienceRow.find(key: key, $0) }.record
    }

    /// Where a record's photo lies; nil for a record without one.
    package func photoPath(of record: ExperienceRecord) -> BytePath? {
        record.photoLocalPath.map { photos.path.appending($0) }
    }

    /// Captures whose note or link has words that begin with each word of `text`, the best first.
    ///
    /// - Returns: nothing where `text` has no word.
    package func search(_ text: String, limit: Int = 50) async throws -> [ExperienceRecord] {
        guard let pattern = FTS5Pattern(matchingAllPrefixesIn: text) else { return [] }
        return try await read { db in
            try ExperienceRow.all(
                """
                JOIN experience_text ON experience_text.rowid = experience.serial
                WHERE experience_text MATCH ? ORDER BY experience_text.rank, timestamp DESC, serial DESC LIMIT ?
                """, [pattern, max(0, limit)], db)
        }
    }

    /// The same id for the same key for ever (a version 8 UUID over its SHA-256).
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

// MARK: - What the repository builds on

extension CaptureStore {
    func read<R: Sendable>(_ body: @escaping @Sendable (Database) throws -> R) async throws -> R {
        do {
            if BlockingThreads.current(isolation: #isolation) != nil { return try readBlocking(body) }
            return try await pool.read(body)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw SQLiteFile.fault("read the captures in \(folder)", error)
        }
    }

    private func readBlocking<R>(_ body: (Database) throws -> R) throws -> R { try pool.read(body) }

    func insert(
        _ request: ExperienceRequest, id: UUID, key: String?, expecting hash: ContentHash?, opened: Descriptor? = nil
    ) async throws -> Added {
        if request.photo == nil, BlockingThreads.current(isolation: #isolation) != nil {
            return try commit(request, id, key, photo: nil, StoredTime.date(clock().nanoseconds))
        }
        return try await lane.run { [self] in
            let now = StoredTime.date(clock().nanoseconds)
            guard let photo = request.photo else { return try commit(request, id, key, photo: nil, now) }
            return try photos.exclusively {
                if let key, let found = try stored(key) { return Added(record: found, isNew: false) }
                let stored = try photos.store(photo, opened, for: id, expecting: hash)
                do {
                    return try commit(request, id, key, photo: stored.name, now)
                } catch {
                    // After an I/O error the commit may yet be found to have reached the disk: the file must stay.
                    if stored.isNew, (error as? Fault)?.kind != .transient { try photos.remove(stored.name) }
                    throw error
                }
            }
        }
    }

    private func stored(_ key: String) throws -> ExperienceRecord? {
        do {
            return try pool.read { try ExperienceRow.find(key: key, $0) }
        } catch {
            throw SQLiteFile.fault("read the captures in \(folder)", error)
        }
    }

    private func commit(
        _ request: ExperienceRequest, _ id: UUID, _ key: String?, photo: String?, _ now: Date
    ) throws -> Added {
        do {
            return try pool.write { db in
                if let key, let found = try ExperienceRow.find(key: key, db) {
                    return Added(record: found, isNew: false)
                }
                let record = ExperienceRecord(
                    id: id, timestamp: request.timestamp ?? now, createdAt: now, momentType: request.momentType,
                    experienceType: request.experienceType, noteText: request.noteText, linkURL: request.linkURL,
                    photoLocalPath: photo)
                try ExperienceRow.insert(record, key: key, db)
                // As every later reading will give it: a time of day is stored in whole nanoseconds.
                return Added(record: try ExperienceRow.find(id: id, db) ?? record, isNew: true)
            }
        } catch let error as ExperienceError {
            throw Fault(.refused, error.description)
        } catch {
            throw SQLiteFile.fault("store the capture in \(folder)", error)
        }
    }

    /// Deletes the row that `find` gives, then its files, or else what a deletion that was cut off left of `id`.
    func delete(
        _ id: UUID, _ find: @escaping @Sendable (Database) throws -> ExperienceRecord?
    ) async throws -> (record: ExperienceRecord?, hadLeftovers: Bool) {
        try await lane.run { [self] in
            try photos.exclusively {
                let record: ExperienceRecord?
                do {
                    record = try pool.write { db in
                        guard let found = try find(db) else { return nil }
                        try db.execute(sql: "DELETE FROM experience WHERE id = ?", arguments: [found.id.uuidString])
                        return found
                    }
                } catch {
                    throw SQLiteFile.fault("remove the capture from \(folder)", error)
                }
                for name in [record?.photoLocalPath, record?.photoThumbnailPath] {
                    if let name { try photos.remove(name) }
                }
                return (record, record == nil ? try photos.removeLeftovers(of: id) : false)
            }
        }
    }
}
