import DotLifeDomain
import Foundation
import GRDB
import Glibc
import OwnFiles
import Platform

/// The result of ``CaptureStore/export(to:)``.
package struct StoreExport: Sendable, Equatable, Encodable {
    package var captures = 0
    package var attachments = 0
    /// Attachments that the store has lost or whose content has changed: their captures are exported without them.
    package var lost: [StoreFinding] = []
}

extension CaptureStore {
    /// Exports all captures to a new folder: `captures.jsonl`, one line each, and their files in `attachments`.
    ///
    /// Complete except for thumbnails, which can be remade. Memory use does not grow with the store.
    ///
    /// - Throws: `Fault(.usage)` if `target` exists already.
    package func export(to target: BytePath) async throws -> StoreExport {
        try await BlockingPool("captures.export").run { [self] in
            try StagedFolder.fill(target) { staged in
                var export = StoreExport()
                let encoder = ExportLines.encoder
                var writer = try LineWriter(staged.place("captures.jsonl"))
                // The first line gives the number of the others, which is known last.
                try writer.write(Self.header(0))
                var last = Int64.min
                while let end = try rows(
                    after: last,
                    { row, files in
                        guard let files = try place(files, of: row["id"], staged, &export) else { return }
                        try writer.write(encoder.encode(ExportedCapture(row, files)))
                        export.captures += 1
                    })
                { last = end }
                try writer.finish(first: Self.header(export.captures))
                return export
            }
        }
    }

    /// Of fixed length, for any number.
    private static func header(_ captures: Int) throws -> Data {
        var line = try ExportLines.encoder.encode(ExportHeader(captures: captures))
        line += Data(repeating: UInt8(ascii: " "), count: max(0, 127 - line.count))
        return line
    }

    /// Calls `body` with some rows and those of their attachments.
    ///
    /// Not a consistent snapshot across calls: captures are independent of one another, and a long read would block
    /// checkpoints.
    ///
    /// - Returns: the serial of the last; nil if there are no others.
    private func rows(after last: Int64, _ body: (Row, [Row]) throws -> Void) throws -> Int64? {
        let (rows, files) = try using("export the captures of \(folder)") { pool in
            try pool.read { db in
                let rows = try Row.fetchAll(
                    db, sql: "SELECT * FROM experience WHERE serial > ? ORDER BY serial LIMIT 500", arguments: [last])
                let files = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT attachment.* FROM experience JOIN attachment ON attachment.experienceID = experience.id
                        WHERE serial > ? AND serial <= ? ORDER BY serial, position
                        """, arguments: [last, rows.last.map { $0["serial"] as Int64 } ?? last])
                return (rows, Dictionary(grouping: files) { $0["experienceID"] as String })
            }
        }
        for row in rows { try body(row, files[row["id"]] ?? []) }
        return rows.last?["serial"]
    }

    /// - Returns: nil if the capture has been removed in the meantime, and its files with it.
    private func place(
        _ rows: [Row], of id: String, _ staged: StagedFolder, _ export: inout StoreExport
    ) throws -> [ExportedAttachment]? {
        var files: [ExportedAttachment] = []
        for row in rows {
            let seen = try FileContent(row, photos)
            let place = BytePath("attachments").appending(seen.exportName)
            var file: String?
            if let problem = try seen.problem ?? copy(seen, to: place, staged) {
                guard try isThere(id) else { return nil }
                export.lost.append(
                    StoreFinding(
                        .missingFile, capture: UUID(uuidString: id), file: "photos/\(row["localPath"] as String)",
                        problem))
            } else {
                file = place.text
                export.attachments += 1
            }
            files.append(try ExportedAttachment(row, sha256: seen.sha256, size: seen.size, file: file))
        }
        return files
    }

    /// A copy, not a link: changes to an export must not affect the store.
    ///
    /// - Returns: the reason if there is no copy, because the file is gone or has changed since it was checked.
    private func copy(_ seen: FileContent, to place: BytePath, _ staged: StagedFolder) throws -> String? {
        do {
            let isWhole = try staged.copy(photos.path(seen.name), as: place, expecting: seen.sha256)
            return isWhole ? nil : "\(seen.shown) has changed while it was exported"
        } catch let fault as Fault where fault.errno == ENOENT {
            return "\(seen.shown) is gone"
        }
    }

    private func isThere(_ id: String) throws -> Bool {
        try using("export the captures of \(folder)") { pool in
            try pool.read {
                try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM experience WHERE id = ?)", arguments: [id])
            } ?? false
        }
    }
}

/// The content of an attachment's file, compared with its row.
struct FileContent {
    let name: String
    /// The name below the store's folder, for display.
    let shown: String
    let sha256: String
    let size: Int64
    /// Why it cannot be exported.
    let problem: String?
    let exportName: BytePath

    init(_ row: Row, _ photos: PhotoFolder) throws {
        let stated = row["sha256"] as String?
        name = row["localPath"]
        shown = "photos/\(BytePath.escape(Array(name.utf8)))"
        var size: Int64 = row["size"] ?? 0
        var problem: String?
        let (status, found) = try Self.look(at: name, photos)
        if let status, let found {
            if let stated, found.description != stated {
                problem = "\(shown) does not hold what was captured (its SHA-256 is \(found))"
            } else {
                size = status.fingerprint.size
            }
        } else {
            problem = "\(shown) is gone"
        }
        sha256 = stated ?? found?.description ?? String(repeating: "0", count: 64)
        self.size = size
        self.problem = problem
        let ending = BytePath(name).stemAndExtension.extension.map { String(decoding: $0, as: UTF8.self) } ?? "bin"
        exportName = BytePath("\(sha256.prefix(2))/\(sha256).\(ending)")
    }

    /// nil if there is no such file, or it vanishes while it is read.
    private static func look(at name: String, _ photos: PhotoFolder) throws -> (FileStatus?, ContentHash?) {
        guard PhotoFolder.isName(name), let status = try FileStatus.of(photos.path(name)), status.kind == .file else {
            return (nil, nil)
        }
        do {
            return (status, try ContentHash.ofFile(photos.path(name)))
        } catch let fault as Fault where fault.errno == ENOENT {
            return (nil, nil)
        }
    }
}

enum ExportLines {
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
