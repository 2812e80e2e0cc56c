import DotLifeDomain
import Foundation
import GRDB
import OwnFiles
import Platform

/// Some lines of an export, imported in one transaction. Everything here blocks.
struct ImportBatch {
    fileprivate struct Item {
        let line: Int
        let capture: ExportedCapture
        let time: Int64
        let created: Int64
        /// Names in the store, in the order of the attachments.
        var names: [String] = []
        /// Descriptions of the missing files, for a person.
        var missing: [String] = []
    }

    private let store: CaptureStore
    private let source: BytePath
    private var items: [Item] = []
    private var ids: Set<UUID> = []
    private var weight = 0

    init(store: CaptureStore, source: BytePath) {
        self.store = store
        self.source = source
    }

    var isFull: Bool { items.count >= 2_000 || weight >= 4 << 20 }

    func holds(_ id: UUID) -> Bool { ids.contains(id) }

    /// - Throws: `Fault(.refused)` if no store can hold it.
    mutating func append(_ capture: ExportedCapture, line: Int) throws {
        let (time, created) = try capture.validate()
        items.append(Item(line: line, capture: capture, time: time, created: created))
        ids.insert(capture.id)
        weight += (capture.note?.utf8.count ?? 0) + capture.attachments.count * 200
    }

    /// Imports the lines or reports why not, and empties the batch.
    mutating func carryOut(_ report: inout StoreImport) throws {
        defer { (items, ids, weight) = ([], [], 0) }
        if items.isEmpty { return }
        try store.photos.exclusively {
            var wanted: [Item] = []
            for item in items {
                do {
                    guard let found = try stored(item.capture.id) else {
                        wanted.append(try copyFiles(of: item))
                        continue
                    }
                    guard found.content == item.capture.content else {
                        throw Fault(.refused, "the store holds a capture \(item.capture.id) that says something else")
                    }
                    report.already += 1
                } catch let fault as Fault where fault.kind == .refused {
                    report.refuse(item.line, fault.message)
                }
            }
            try insert(wanted, &report)
        }
    }

    /// The store's version of the capture, as an export would have it.
    private func stored(_ id: UUID) throws -> ExportedCapture? {
        try store.using("read the captures in \(store.folder)") { pool in
            try pool.read { db in
                guard
                    let row = try Row.fetchOne(
                        db.cachedStatement(sql: "SELECT * FROM experience WHERE id = ?"), arguments: [id.uuidString])
                else { return nil }
                let attachments = try db.cachedStatement(
                    sql: "SELECT * FROM attachment WHERE experienceID = ? ORDER BY position")
                let files = try Row.fetchAll(attachments, arguments: [id.uuidString]).map { row in
                    // Reads the file only if an earlier version has not recorded its hash.
                    if let known = row["sha256"] as String?, let size = row["size"] as Int64? {
                        return try ExportedAttachment(row, sha256: known, size: size, file: nil)
                    }
                    let seen = try FileContent(row, store.photos)
                    return try ExportedAttachment(row, sha256: seen.sha256, size: seen.size, file: nil)
                }
                return try ExportedCapture(row, files)
            }
        }
    }

    /// If a later copy fails, the earlier ones stay: they do no harm, and the next attempt uses them.
    private func copyFiles(of item: Item) throws -> Item {
        var item = item
        for file in item.capture.attachments {
            guard let name = file.file else {
                try item.takeLost(file, store.photos)
                continue
            }
            let opened: Descriptor
            do {
                let path = BytePath(name)
                opened = try SafePath.open(path, beneath: source)
                guard try opened.status().kind == .file, try opened.status().size == file.size,
                    try ContentHash.of(opened).description == file.sha256
                else {
                    throw Fault(.refused, "the file \(path) is not the one that was exported")
                }
            } catch let fault as Fault where fault.kind != .transient {
                throw Fault(.refused, "its file \(BytePath.escape(Array(name.utf8))): \(fault.message)")
            }
            item.names.append(
                try store.photos.store(.file(path: Array(name.utf8)), opened, expecting: ContentHash(hex: file.sha256))
                    .name)
        }
        return item
    }

    private func insert(_ wanted: [Item], _ report: inout StoreImport) throws {
        if wanted.isEmpty { return }
        let refused = try store.using("store captures in \(store.folder)") { pool in
            try pool.write { db in
                var refused: [(Int, String)] = []
                for item in wanted {
                    do {
                        try db.inSavepoint {
                            try insert(item, db)
                            return .commit
                        }
                    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                        refused.append((item.line, "its id, key or that of an attachment is another capture's"))
                    }
                }
                return refused
            }
        }
        for (line, message) in refused { report.refuse(line, message) }
        report.added += wanted.count - refused.count
        let refusedLines = Set(refused.map(\.0))
        for item in wanted where !item.missing.isEmpty && !refusedLines.contains(item.line) {
            report.takeWithout(item.missing, item.line)
        }
    }

    private func insert(_ item: Item, _ db: Database) throws {
        let capture = item.capture
        try db.cachedStatement(sql: ExperienceRow.insertExperience).execute(
            arguments: [
                capture.id.uuidString, item.time, item.created, capture.moment, capture.kind, capture.note,
                capture.link, capture.key, ExperienceRow.fileNames(capture.attachments.map(\.originalName)),
            ])
        for (file, name) in zip(capture.attachments, item.names) {
            try db.cachedStatement(sql: ExperienceRow.insertAttachment).execute(
                arguments: [
                    file.id.uuidString, capture.id.uuidString, file.position, file.type, name, nil,
                    file.originalName.map { Data($0) }, file.sha256, file.size,
                ])
        }
    }
}

extension ImportBatch.Item {
    /// The exporting store had lost the file: the text and the row are imported, so that
    /// ``CaptureStore/check(contents:)`` reports the loss. If this store has the same bytes, nothing is missing.
    fileprivate mutating func takeLost(_ file: ExportedAttachment, _ photos: PhotoFolder) throws {
        let (name, isThere) = try photos.name(ofLost: file.sha256)
        names.append(name)
        if isThere { return }
        let called = file.name.map { " (\($0))" } ?? ""
        missing.append("the file of attachment \(file.id)\(called), SHA-256 \(file.sha256)")
    }
}
