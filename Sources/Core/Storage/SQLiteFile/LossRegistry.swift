import Foundation
import JSONText
import OwnFiles
import Platform

/// A database that is missing or was set aside as corrupt, and was replaced by an empty one.
package struct StoreLoss: Codable, Sendable, Equatable {
    /// `captures.sqlite.loss-TIME`: the name of its record's file, and its id in commands.
    package let id: String
    /// The database that is now empty.
    package let database: BytePath
    package let time: Timestamp
    /// Where the old one was moved; nil if nothing was left to keep.
    package let aside: BytePath?
    /// What happened and what the owner can do: a sentence or two, without a final full stop.
    package let message: String

    /// For reports: adds when it happened, and how to dismiss the report.
    package var line: String { "\(time): \(message). \(remedy)" }
    package var remedy: String { "`steward losses acknowledge \(id)` once you have resolved it" }
}

/// Losses that are not yet acknowledged.
///
/// Each is a file `NAME.loss-TIME` next to the database. It is written before a corrupt database is moved aside, so
/// that neither a crash nor a caller that ignores a return value can hide the loss; it is deleted when a person
/// acknowledges it. Every call blocks.
package struct LossRegistry: Sendable {
    private let folders: [BytePath]
    private static let mark = ".loss-"

    /// - Parameter folders: the folders that contain databases.
    package init(_ folders: [BytePath]) {
        var seen: Set<BytePath> = []
        self.folders = folders.filter { seen.insert($0).inserted }
    }

    /// All losses, oldest first.
    ///
    /// - Throws: `Fault` if a folder cannot be read.
    package func standing() throws -> [StoreLoss] {
        try folders.flatMap { folder -> [StoreLoss] in
            guard try FileStatus.of(folder)?.kind == .directory else { return [] }
            return try listDirectory(folder).map { BytePath(bytes: $0.name) }
                .filter { $0.text.contains(Self.mark) && !$0.text.hasPrefix(".") }.compactMap {
                    try Self.read(folder.appending($0))
                }
        }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }

    /// The losses of one database.
    package func standing(of database: BytePath) throws -> [StoreLoss] {
        try standing().filter { $0.database == database }
    }

    private static func read(_ file: BytePath) throws -> StoreLoss? {
        do {
            return try JSONDecoder().decode(StoreLoss.self, from: Data(try Descriptor(file).readAll(limit: 65_536)))
        } catch let fault as Fault where fault.errno == ENOENT {
            // Acknowledged in the meantime.
            return nil
        } catch is DecodingError {
            // Still a loss: an unreadable record must not count as none.
            let name = file.nameText.split(separator: mark, maxSplits: 1).first ?? ""
            return StoreLoss(
                id: file.nameText, database: file.parent.appending(String(name)), time: Timestamp(nanoseconds: 0),
                aside: nil,
                message: "a database was lost, and \(file), which should name it, is invalid")
        }
    }

    /// Writes a loss to disk.
    ///
    /// - Throws: `Fault`; `.failed` if the registry does not read that folder, so that the loss would go unnoticed.
    func note(_ loss: StoreLoss) throws {
        let folder = loss.database.parent
        guard folders.contains(folder) else {
            throw Fault(.failed, "\(loss.database) is corrupt, and no registry of losses looks into \(folder)")
        }
        try Durable.replaceOwn(folder.appending(loss.id), with: Array(try JSONText.document(loss).utf8))
    }

    /// Records that a database is missing. If a loss of it is already recorded, under any name, that remains the only
    /// one.
    ///
    /// - Parameter message: as ``StoreLoss/message``.
    package func note(missing database: BytePath, _ message: String, now: Timestamp) throws {
        guard try standing(of: database).isEmpty else { return }
        try note(
            StoreLoss(
                id: Self.id(of: database, Self.stamp(now)), database: database, time: now, aside: nil,
                message: message))
    }

    /// - Parameter id: a loss's id or a prefix of it; nil for all.
    /// - Returns: the losses acknowledged by this call; they are not reported again.
    /// - Throws: `Fault(.usage)` if no loss has such an id.
    package func acknowledge(_ id: String?) throws -> [StoreLoss] {
        let chosen = try standing().filter { loss in id.map { loss.id.hasPrefix($0) } ?? true }
        if let id, chosen.isEmpty {
            throw Fault(.usage, "no loss is called \(BytePath.escape(Array(id.utf8))); `steward losses` lists them")
        }
        for loss in chosen {
            let file = loss.database.parent.appending(loss.id)
            try Durable.remove(file)
            try Durable.syncDirectory(file.parent)
        }
        return chosen
    }

    /// - Parameter stamp: a time, and a number if that alone is taken.
    static func id(of database: BytePath, _ stamp: String) -> String { "\(database.nameText)\(mark)\(stamp)" }

    /// A time as it appears in names.
    static func stamp(_ time: Timestamp) -> String {
        time.description.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
    }
}
