import DotLifeDomain
import Foundation
import GRDB
import OwnFiles
import Platform
import SQLiteFile

/// The captures on disk: `captures.sqlite` and the folders `photos` and `thumbnails`
/// (docs/design/dot-store.md).
///
/// A capture is never in the store without its files, and one capture key never twice: a file is copied and synced
/// before its row is committed, its id follows from the key and its name from what it holds, so that whatever a crash
/// left is found and used when the same capture is added again. Several processes may use one store.
package final class CaptureStore: Sendable {
    package let folder: BytePath
    let pool: DatabasePool
    private let grouped: GroupedWrites
    let photos: PhotoFolder
    let lane: BlockingPool
    let shrink: Thumbnailer?
    let complain: @Sendable (any Error) -> Void
    let clock: @Sendable () -> Timestamp

    /// Makes a picture small: a JPEG that fits ``thumbnailSide`` squared, upright as its EXIF data say.
    ///
    /// It is given the store's own file, and decodes it in a process of its own: this module decodes no picture. What it
    /// throws holds for all pictures: no library for it is installed, say.
    package typealias Thumbnailer = @Sendable (_ picture: Descriptor) async throws -> Thumbnail

    /// What became of a picture that was to be made small.
    package enum Thumbnail: Sendable, Equatable {
        case made([UInt8])
        /// It cannot be decoded, with the reason.
        case failed(String)
    }

    /// Pixels of the square that a small picture fits (the original's 200 × 200).
    package static let thumbnailSide = 200

    private init(
        _ folder: BytePath, _ pool: DatabasePool, _ photos: PhotoFolder, _ lane: BlockingPool,
        _ shrink: Thumbnailer?, _ complain: @escaping @Sendable (any Error) -> Void,
        _ clock: @escaping @Sendable () -> Timestamp
    ) {
        self.folder = folder
        self.pool = pool
        grouped = GroupedWrites(pool)
        self.photos = photos
        self.lane = lane
        self.shrink = shrink
        self.complain = complain
        self.clock = clock
    }

    /// An opened store, and what a person should know about how it was found.
    package struct Opened: Sendable {
        package let store: CaptureStore
        /// Not empty where a corrupt database was set aside, or what nobody has could not be removed.
        package let notices: [String]
    }

    /// Opens the store in `folder`, or makes it.
    ///
    /// A corrupt database is renamed to `captures.sqlite.corrupt-<time>`, never deleted, and an empty one begun; one that
    /// was not to be checked is left as it is.
    ///
    /// - Parameters:
    ///   - checked: whether the database is looked through for damage first, which takes a second for each few hundred
    ///     thousand captures. A command that only looks something up leaves that to the agent.
    ///   - thumbnailer: nil makes no small pictures; ``makeThumbnails()`` makes them later.
    ///   - complain: told why no small picture could be made, for the capture is stored all the same, and what could not
    ///     be mended.
    /// - Throws: `Fault`; `.fatal` where a newer version wrote the database.
    package static func open(
        in folder: BytePath, checked: Bool = true, thumbnailer: Thumbnailer? = nil,
        complain: @escaping @Sendable (any Error) -> Void = { _ in },
        clock: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) async throws -> Opened {
        let lane = BlockingPool("captures")
        return try await lane.run {
            try Durable.makeDirectory(folder, mode: 0o700)
            let photos = try PhotoFolder(in: folder)
            // Under the lock, so that of two processes that find it corrupt only one sets it aside.
            return try photos.exclusively {
                var left = try photos.removeUnfinishedCopies()
                let path = folder.appending(Self.databaseName)
                let opened = try SQLiteFile(
                    path, of: "the captures", migrator: CaptureSchema.migrator, isChecked: checked,
                    checksIndexes: true,
                    // What a savepoint may have to take back would go to temporary files.
                    writerSettings: ["temp_store = MEMORY"],
                    whenCorrupt: checked
                        ? .setAside(
                            LossRegistry([folder]),
                            hint: "The photos are untouched; restore \(path) from a backup to have the captures back")
                        : .refused(
                            remedy: "put a backup in its place, or move it away; the photos are untouched")
                ).open(now: clock())
                let store = CaptureStore(folder, opened.pool, photos, lane, thumbnailer, complain, clock)
                left += try store.removeUnusedFiles().map(\.fault)
                // What nobody has is in nobody's way: the captures are to be had all the same.
                return Opened(
                    store: store,
                    notices: opened.notices
                        + left.map { "\($0.message); no capture has it, and the next opening tries again" })
            }
        }
    }

    /// Ends all use of the database; later calls fail. What no other process still reads of the log is folded into it; a
    /// log that has to stay is waited for by nobody.
    package func close() async throws {
        try await lane.run { [pool, folder] in
            do {
                do {
                    try pool.writeWithoutTransaction { db in
                        // It would wait for whoever reads, and keep others from writing meanwhile.
                        try db.execute(sql: "PRAGMA busy_timeout = 0")
                        _ = try db.checkpoint(.truncate)
                    }
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    // Another process needs the log. It loses nothing: whoever closes last folds it in.
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
    ///   - hash: what the first attachment must hold, beside what the request itself says.
    ///   - photo: the first attachment's file, already open; nil opens the path that the request names.
    /// - Throws: `Fault`; `.failed` where the photo is not what `hash` says, `.refused` where the request is not valid.
    package func add(
        _ request: ExperienceRequest, key: String, expecting hash: ContentHash? = nil, photo: Descriptor? = nil
    ) async throws -> Added {
        try await add(request, key: key, expecting: hash, opened: photo.map { [0: $0] } ?? [:])
    }

    /// The same for a capture of several files.
    ///
    /// - Parameter opened: the files that are open already, by their number in `request.attachments`.
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

    /// Takes a capture back: the row, then its file. Called again after a crash it finishes what was left.
    ///
    /// - Returns: what was removed; nil where no such capture was there.
    package func remove(key: String) async throws -> ExperienceRecord? {
        try await delete(Self.id(forKey: key)) { try ExperienceRow.find(key: key, $0) }.record
    }

    /// Where a record's first photo lies; nil for a record without one.
    package func photoPath(of record: ExperienceRecord) -> BytePath? {
        record.photoLocalPath.flatMap { try? photos.path($0) }
    }

    /// Where an attachment lies.
    ///
    /// - Throws: `Fault` where the database names what cannot be in the store.
    package func path(of attachment: AttachmentRecord) throws -> BytePath { try photos.path(attachment.localPath) }

    /// Where an attachment's small picture lies; nil where none was made.
    package func thumbnailPath(of attachment: AttachmentRecord) throws -> BytePath? {
        try attachment.thumbnailPath.map { try photos.path($0, .thumbnails) }
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
        let added = try await lane.run { [self] in
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

    /// Copies the files in and hands over what `body` is to commit; takes back what it does not.
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
            // After an I/O error the commit may yet be found to have reached the disk: the files must stay.
            if (error as? Fault)?.kind != .transient { for name in placed { try photos.remove(name) } }
            throw error
        }
    }

    private func stored(_ key: String) throws -> ExperienceRecord? {
        try using("read the captures in \(folder)") { try $0.read { try ExperienceRow.find(key: key, $0) } }
    }

    /// Captures that come at the same time are committed together; each is on the disk when this returns.
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

    /// Deletes the row that `find` gives, then those of its files that no other row names, or else what a deletion that
    /// was cut off left of `id`.
    func delete(
        _ id: UUID, _ find: @escaping @Sendable (Database) throws -> ExperienceRecord?
    ) async throws -> (record: ExperienceRecord?, hadLeftovers: Bool) {
        try await lane.run { [self] in
            try photos.exclusively {
                let record = try using("remove the capture from \(folder)") { pool in
                    try pool.write { db -> ExperienceRecord? in
                        guard let found = try find(db) else { return nil }
                        try db.execute(sql: "DELETE FROM experience WHERE id = ?", arguments: [found.id.uuidString])
                        for file in found.attachments { try UnusedFile.note(file, db) }
                        // The index keeps the words of what is deleted until its parts are merged.
                        try db.execute(sql: "INSERT INTO experience_text (experience_text) VALUES ('optimize')")
                        return found
                    }
                }
                try removeUnused(from: record?.attachments ?? [])
                // Its words stand in the log as well, and what was there before them.
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

    /// Removes what nobody has any more.
    ///
    /// - Throws: why one of `files` could not go: somebody asked for it; others were complained of when the store was
    ///   opened.
    func removeUnused(from files: [AttachmentRecord]) throws {
        let own = Set(files.flatMap { [$0.localPath] + ($0.thumbnailPath.map { [$0] } ?? []) })
        for (file, fault) in try removeUnusedFiles() where own.contains(file.name) { throw fault }
    }

    /// Removes the files that removed captures have left, those of a process that died too. Blocks; only while the folder
    /// is locked.
    ///
    /// - Returns: what could not be removed, and why; the next call tries again.
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
