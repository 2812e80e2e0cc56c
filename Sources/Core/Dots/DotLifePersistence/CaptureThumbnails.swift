import DotLifeDomain
import Foundation
import GRDB
import OwnFiles
import Platform

// Thumbnails are made after the commit: a capture is durable before any of it is decoded, and is stored even if that
// fails.

extension CaptureStore {
    /// The record with thumbnails of its photos, as far as they can be made.
    ///
    /// - Parameter some: the attachments to try; nil tries all.
    func withThumbnails(_ record: ExperienceRecord, of some: Set<UUID>? = nil) async -> ExperienceRecord {
        let wanted = record.attachments.filter {
            $0.type == .photo && $0.thumbnailPath == nil && some?.contains($0.id) != false
        }
        guard shrink != nil, !wanted.isEmpty else { return record }
        do {
            for file in wanted {
                do {
                    _ = try await makeThumbnail(of: file.localPath)
                } catch let fault as Fault where fault.kind == .refused {
                    complain(fault)
                }
            }
            return try await read { try ExperienceRow.find(id: record.id, $0) } ?? record
        } catch {
            complain(error)
            return record
        }
    }

    /// The result of ``makeThumbnails()``.
    package struct ThumbnailsMade: Sendable, Equatable {
        package var made = 0
        /// Names in the store and why there is no thumbnail of them; the first hundred.
        package var failed: [String: String] = [:]
        package var failures = 0
    }

    /// Makes missing thumbnails, including those whose files are missing.
    ///
    /// - Throws: `Fault` if none can be made: there is no thumbnailer, or its requirements are missing.
    package func makeThumbnails() async throws -> ThumbnailsMade {
        guard shrink != nil else {
            throw Fault(.failed, "no thumbnails can be made here: nothing that makes them was set up")
        }
        var report = ThumbnailsMade()
        var last = ""
        while true {
            let (after, photo) = (last, AttachmentType.photo.rawValue)
            let rows = try await read { db in
                try Row.fetchAll(
                    db,
                    sql: """
                        SELECT localPath, MIN(thumbnailPath) AS thumbnail FROM attachment
                        WHERE typeRaw = ? AND localPath > ? GROUP BY localPath ORDER BY localPath LIMIT 200
                        """, arguments: [photo, after]
                ).map { (name: $0["localPath"] as String, thumbnail: $0["thumbnail"] as String?) }
            }
            guard let end = rows.last else { return report }
            for row in rows {
                do {
                    if try await isThere(thumbnail: row.thumbnail) { continue }
                    if try await makeThumbnail(of: row.name) { report.made += 1 }
                } catch let fault as Fault where fault.kind == .refused {
                    report.failures += 1
                    if report.failed.count < 100 { report.failed[row.name] = fault.message }
                }
            }
            last = end.name
        }
    }

    /// - Throws: `Fault(.refused)` if it cannot be checked.
    private func isThere(thumbnail name: String?) async throws -> Bool {
        guard let name else { return false }
        return try await threads.run { [photos] in
            try Self.ofOnePicture { try FileStatus.of(photos.path(name, .thumbnails)) != nil }
        }
    }

    /// Turns a failure into one of this picture alone, so that the others still get thumbnails.
    private static func ofOnePicture<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as Fault {
            throw Fault(.refused, fault.message, path: fault.path, errno: fault.errno)
        }
    }

    /// - Returns: false if the file is no longer used.
    /// - Throws: `Fault(.refused)` if this picture cannot be opened or decoded.
    private func makeThumbnail(of name: String) async throws -> Bool {
        guard let shrink else { return false }
        let file = try await threads.run { [photos] in try Self.ofOnePicture { try Descriptor(photos.path(name)) } }
        let jpeg: [UInt8]
        switch try await shrink(file) {
        case .made(let bytes): jpeg = bytes
        case .failed(let reason):
            throw Fault(.refused, "no thumbnail of \(file.path): \(reason)", path: file.path)
        }
        return try await threads.run { [self] in
            try photos.exclusively {
                try using("store a thumbnail in \(folder)") { pool in
                    let isUsed = try pool.read {
                        try Bool.fetchOne(
                            $0, sql: "SELECT EXISTS (SELECT 1 FROM attachment WHERE localPath = ?)", arguments: [name])
                    }
                    guard isUsed == true else { return false }
                    let small = PhotoFolder.thumbnailName(of: name)
                    try photos.keepThumbnail(jpeg, as: small)
                    try pool.write {
                        try $0.execute(
                            sql: "UPDATE attachment SET thumbnailPath = ? WHERE localPath = ?",
                            arguments: [small, name])
                    }
                    return true
                }
            }
        }
    }
}
