import DotLifeDomain
import Foundation
import GRDB
import Glibc
import OwnFiles
import Platform
import SQLiteFile

extension CaptureStore {
    /// Checks the whole store without changing it: the database, its indexes, each attachment's file, and stray files.
    /// Captures may come and go in the meantime.
    ///
    /// - Parameter contents: whether each file is read and compared with its hash; otherwise only its presence and size
    ///   are checked.
    package func check(contents: Bool = true) async throws -> StoreCheck {
        try await BlockingPool("captures.check").run { [self] in
            var check = StoreCheck()
            check.findings = try using("check the captures in \(folder)") { try DatabaseCheck.findings($0) }
            try using("check the captures in \(folder)") { pool in
                (check.captures, check.attachments) = try pool.read { db in
                    (
                        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM experience") ?? 0,
                        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM attachment") ?? 0
                    )
                }
            }
            try attachmentFiles { try look(at: $0, contents: contents, &check) }
            for kind in [PhotoFolder.Kind.photos, .thumbnails] {
                try strays(kind) { name, stray in
                    let file = "\(kind.rawValue)/\(BytePath.escape(name.bytes))"
                    check.findings.append(StoreFinding(stray, file: file, Self.message(stray, file)))
                }
            }
            return check
        }
    }

    private static func message(_ stray: StoreFinding.Kind, _ file: String) -> String {
        switch stray {
        case .strayFolder:
            "\(file) is a folder, which the store never creates there; check its contents and move it away: no repair does"
        case .unfinishedCopy: "\(file) is an unfinished copy"
        default: "\(file) belongs to no capture"
        }
    }

    /// An attachment's file, with one of the captures that use it.
    struct AttachmentFile {
        let capture: UUID?
        let name: String
        let sha256: String?
        let size: Int64?
        let thumbnail: String?
    }

    /// Calls `body` with each file once, with at most a few hundred rows in memory. Blocks.
    func attachmentFiles(_ body: (AttachmentFile) throws -> Void) throws {
        var last = ""
        while true {
            let files = try using("read the captures in \(folder)") { pool in
                try pool.read { db in
                    try Row.fetchAll(
                        db,
                        sql: """
                            SELECT localPath, MIN(experienceID) AS capture, MAX(sha256) AS sha256, MAX(size) AS size,
                                MAX(thumbnailPath) AS thumbnail
                            FROM attachment WHERE localPath > ? GROUP BY localPath ORDER BY localPath LIMIT 500
                            """, arguments: [last]
                    ).map { row in
                        AttachmentFile(
                            capture: UUID(uuidString: row["capture"]), name: row["localPath"], sha256: row["sha256"],
                            size: row["size"], thumbnail: row["thumbnail"])
                    }
                }
            }
            guard let end = files.last else { return }
            for file in files { try body(file) }
            last = end.name
        }
    }

    private func look(at file: AttachmentFile, contents: Bool, _ check: inout StoreCheck) throws {
        let shown = "photos/\(BytePath.escape(Array(file.name.utf8)))"
        func find(_ kind: StoreFinding.Kind, _ message: String) {
            check.findings.append(StoreFinding(kind, capture: file.capture, file: shown, message))
        }
        guard PhotoFolder.isName(file.name) else {
            return find(.impossibleName, "a capture names \(shown), which is no name of the store's")
        }
        let path = try photos.path(file.name)
        guard let status = try FileStatus.of(path), status.kind == .file else {
            // A capture removed in the meantime has taken its file along.
            if try isNamed(file.name, .photos) { find(.missingFile, "\(shown) is missing; a backup may have it") }
            return
        }
        check.files += 1
        check.bytes += status.fingerprint.size
        if let size = file.size, status.fingerprint.size != size {
            find(.alteredFile, "\(shown) has \(status.fingerprint.size) bytes, and had \(size)")
        } else if let sha256 = file.sha256 {
            if contents, let found = try contentHash(path), found.description != sha256 {
                find(.alteredFile, "\(shown) has changed since it was captured (its SHA-256 is \(found))")
            }
        } else {
            find(.unverifiedFile, "an earlier version did not note what \(shown) holds")
        }
        if let small = file.thumbnail {
            guard PhotoFolder.isName(small) else {
                return find(.impossibleName, "a capture names a thumbnail that is none of the store's")
            }
            if try FileStatus.of(photos.path(small, .thumbnails)) == nil, try isNamed(small, .thumbnails) {
                find(.missingThumbnail, "the thumbnail of \(shown) is gone")
            }
        }
    }

    /// nil if the file has gone in the meantime.
    func contentHash(_ path: BytePath) throws -> ContentHash? {
        do {
            return try ContentHash.ofFile(path)
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        }
    }

    /// Whether a row names the file.
    func isNamed(_ name: String, _ kind: PhotoFolder.Kind) throws -> Bool {
        let column = kind == .photos ? "localPath" : "thumbnailPath"
        return try using("read the captures in \(folder)") { pool in
            try pool.read {
                try Bool.fetchOne(
                    $0, sql: "SELECT EXISTS (SELECT 1 FROM attachment WHERE \(column) = ?)", arguments: [name])
            } ?? false
        }
    }

    /// Calls `body` with each file that no row names, while copies and removals are locked out.
    ///
    /// - Parameter body: receives the path in the folder, and the kind of finding.
    func strays(_ kind: PhotoFolder.Kind, _ body: (BytePath, StoreFinding.Kind) throws -> Void) throws {
        let root = photos.folder(kind)
        guard try FileStatus.of(root) != nil else { return }
        for entry in try listDirectory(root) {
            let name = BytePath(bytes: entry.name)
            // Locks one folder at a time, so that captures need not wait for all of them.
            try photos.exclusively {
                guard let status = try FileStatus.of(root.appending(name)) else { return }
                guard status.kind == .directory, entry.name.count == 2 else {
                    return try judge(name, kind, body)
                }
                for inner in try listDirectory(root.appending(name)) {
                    try judge(name.appending(name: inner.name), kind, body)
                }
            }
        }
    }

    private func judge(
        _ name: BytePath, _ kind: PhotoFolder.Kind, _ body: (BytePath, StoreFinding.Kind) throws -> Void
    ) throws {
        let isFolder = try FileStatus.of(photos.folder(kind).appending(name))?.kind == .directory
        if PhotoFolder.isTemporary(name.name) { return try body(name, isFolder ? .strayFolder : .unfinishedCopy) }
        let text = String(validating: name.bytes, as: UTF8.self)
        if let text, try isNamed(text, kind) { return }
        try body(name, isFolder ? .strayFolder : .strayFile)
    }
}
