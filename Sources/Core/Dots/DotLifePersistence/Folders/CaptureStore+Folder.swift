import DotLifeDomain
import Foundation
import GRDB
import Platform

extension CaptureStore {
    /// The result of ``join(_:of:key:name:expecting:file:)``.
    package struct Joined: Sendable, Equatable {
        /// The whole capture, including the file.
        package let record: ExperienceRecord
        /// Whether the capture was created for this file; others have joined it.
        package let isFirst: Bool
    }

    /// Stores a file that was dropped in a folder, once: in the capture of the files shortly before or after it, or
    /// else in a new one.
    ///
    /// - Parameters:
    ///   - request: the file as a capture on its own. Its text becomes a paragraph of the capture, its attachments the
    ///     capture's.
    ///   - key: derived from the job; a second call with it returns the first one's result.
    ///   - name: the file's, by which texts are ordered.
    ///   - hash: the attachment's expected hash.
    ///   - file: the attachment's file, already open.
    /// - Throws: `Fault`; `.failed` if the file does not match `hash`.
    package func join(
        _ request: ExperienceRequest, of folder: CaptureFolder, key: String, name: [UInt8],
        expecting hash: ContentHash? = nil, file: Descriptor? = nil
    ) async throws -> Joined {
        let joined = try await threads.run { [self] in
            let now = StoredTime.date(clock().nanoseconds)
            return try photos.exclusively {
                if let found = try using(
                    "read the captures in \(self.folder)", { try $0.read { try Self.joined(key, $0) } })
                {
                    return found
                }
                return try placing(request.attachments, file.map { [0: $0] } ?? [:], expecting: hash) { files in
                    do {
                        return try pool.write { try Self.join(request, files, folder, key, name, now, $0) }
                    } catch {
                        throw storing(error)
                    }
                }
            }
        }
        // Only for this file's pictures: the others' have been tried.
        let own = try await read { try FolderMember.attachments(of: key, $0) }
        return Joined(record: await withThumbnails(joined.record, of: Set(own)), isFirst: joined.isFirst)
    }

    /// The result of ``join(_:of:key:name:expecting:file:)`` for this key; nil if the file is in no capture.
    package func joined(key: String) async throws -> Joined? { try await read { try Self.joined(key, $0) } }

    /// Removes a file from its folder's capture; the last one removes the capture.
    ///
    /// - Returns: whether it was in one.
    package func leave(key: String) async throws -> Bool {
        try await threads.run { [self] in
            try photos.exclusively {
                let files = try using("take a file out of a capture in \(folder)") { pool in
                    try pool.write { try Self.leave(key, $0) }
                }
                try removeUnused(from: files ?? [])
                return files != nil
            }
        }
    }

    private static func joined(_ key: String, _ db: Database) throws -> Joined? {
        guard let (capture, isFirst) = try FolderMember.find(key, db), let id = UUID(uuidString: capture),
            let record = try ExperienceRow.find(id: id, db)
        else { return nil }
        return Joined(record: record, isFirst: isFirst)
    }

    private static func join(
        _ request: ExperienceRequest, _ files: [AttachmentRecord], _ folder: CaptureFolder, _ key: String,
        _ name: [UInt8], _ now: Date, _ db: Database
    ) throws -> Joined {
        if let found = try joined(key, db) { return found }
        let words = (request.noteText ?? request.linkURL)?.utf8.count ?? 0
        let known = try FolderMember.capture(joinedBy: folder, words: words, db)
        let capture = known ?? Self.id(forKey: key).uuidString
        if known == nil {
            let record = ExperienceRecord(
                id: Self.id(forKey: key), timestamp: request.timestamp ?? now, createdAt: now,
                momentType: request.momentType, experienceType: .dot)
            _ = try ExperienceRow.insert(record, key: nil, db)
        }
        let used = try Int.fetchOne(
            db, sql: "SELECT MAX(position) + 1 FROM attachment WHERE experienceID = ?", arguments: [capture])
        for (number, file) in files.enumerated() {
            try ExperienceRow.insert(file, at: (used ?? 0) + number, of: capture, db)
        }
        let member = FolderMember(key: key, name: name, request: request, attachments: files.map(\.id))
        try member.insert(into: capture, of: folder, isFirst: known == nil, db)
        try FolderMember.derive(capture, db)
        guard let joined = try joined(key, db) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a capture that was just stored is not there")
        }
        return joined
    }

    /// - Returns: the files that may be unused now; nil if there is no such member.
    private static func leave(_ key: String, _ db: Database) throws -> [AttachmentRecord]? {
        guard let (capture, _) = try FolderMember.find(key, db) else { return nil }
        let files = try Row.fetchAll(db, sql: "SELECT * FROM attachment WHERE member = ?", arguments: [key])
            .map(ExperienceRow.attachment)
        try db.execute(sql: "DELETE FROM attachment WHERE member = ?", arguments: [key])
        try db.execute(sql: "DELETE FROM member WHERE key = ?", arguments: [key])
        for file in files { try UnusedFile.note(file, db) }
        let left = try Int.fetchOne(
            db, sql: "SELECT COUNT(*) FROM member WHERE experienceID = ?", arguments: [capture])
        if left == 0 {
            try db.execute(sql: "DELETE FROM experience WHERE id = ?", arguments: [capture])
        } else {
            try FolderMember.derive(capture, db)
        }
        return files
    }
}
