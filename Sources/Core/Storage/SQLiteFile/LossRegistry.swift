import Foundation
import JSONText
import OwnFiles
import Platform

/// A database that was set aside as corrupt, or that is gone, while an empty one stands in its place.
package struct StoreLoss: Codable, Sendable, Equatable {
    /// `captures.sqlite.loss-TIME`: the file in which this stands, and what commands ask for.
    package let id: String
    /// The database that is empty now.
    package let database: BytePath
    package let time: Timestamp
    /// Where the old one lies; nil where there was nothing left to keep.
    package let aside: BytePath?
    /// What happened and what its owner can do; a sentence or two, without a full stop.
    package let message: String

    /// For reports: when it happened as well, and how to end the report.
    package var line: String { "\(time): \(message). \(remedy)" }
    package var remedy: String { "`steward losses acknowledge \(id)` once you have dealt with it" }
}

/// The losses that nobody has acknowledged yet.
///
/// Each is a file `NAME.loss-TIME` beside the database. It is written before a corrupt database is moved aside, so that no crash and
/// no caller that ignores a return value can hide it; it goes when a person acknowledges the loss. Everything here blocks.
package struct LossRegistry: Sendable {
    private let folders: [BytePath]
    private static let mark = ".loss-"

    /// - Parameter folders: those in which databases lie.
    package init(_ folders: [BytePath]) {
        var seen: Set<BytePath> = []
        self.folders = folders.filter { seen.insert($0).inserted }
    }

    /// All of them, oldest first.
    ///
    /// - Throws: `Fault` where a folder cannot be read.
    package func standing() throws -> [StoreLoss] {
        try folders.flatMap { folder -> [StoreLoss] in
            guard try FileStatus.of(folder)?.kind == .directory else { return [] }
            return try listDirectory(folder).map { BytePath(bytes: $0.name) }
                .filter { $0.text.contains(Self.mark) && !$0.text.hasPrefix(".") }.compactMap {
                    try Self.read(folder.appending($0))
                }
        }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }

    /// Those of one database.
    package func standing(of database: BytePath) throws -> [StoreLoss] {
        try standing().filter { $0.database == database }
    }

    private static func read(_ file: BytePath) throws -> StoreLoss? {
        do {
            return try JSONDecoder().decode(StoreLoss.self, from: Data(try Descriptor(file).readAll(limit: 65_536)))
        } catch let fault as Fault where fault.errno == ENOENT {
            // Acknowledged meanwhile.
            return nil
        } catch is DecodingError {
            // Still a loss: what cannot be read must not count as nothing.
            let name = file.nameText.split(separator: mark, maxSplits: 1).first ?? ""
            return StoreLoss(
                id: file.nameText, database: file.parent.appending(String(name)), time: Timestamp(nanoseconds: 0),
                aside: nil,
                message: "a database was lost, and \(file), which should say which, cannot be understood")
        }
    }

    /// Puts a loss on the disk.
    ///
    /// - Throws: `Fault`; `.failed` where nobody would see it, because the registry does not look into that folder.
    func note(_ loss: StoreLoss) throws {
        let folder = loss.database.parent
        guard folders.contains(folder) else {
            throw Fault(.failed, "\(loss.database) is corrupt, and no registry of losses looks into \(folder)")
        }
        try Durable.replaceOwn(folder.appending(loss.id), with: Array(try JSONText.document(loss).utf8))
    }

    /// Notes that a database is gone altogether. One that is noted already, by whatever name, stays the only one.
    ///
    /// - Parameter message: as ``StoreLoss/message``.
    package func note(missing database: BytePath, _ message: String, now: Timestamp) throws {
        guard try standing(of: database).isEmpty else { return }
        try note(
            StoreLoss(
                id: Self.id(of: database, Self.stamp(now)), database: database, time: now, aside: nil,
                message: message))
    }

    /// - Parameter id: of a loss, or its beginning; nil for all.
    /// - Returns: those that are acknowledged by this; they are reported no more.
    /// - Throws: `Fault(.usage)` where no loss has such an id.
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

    /// - Parameter stamp: a time, and a number where that alone would be taken.
    static func id(of database: BytePath, _ stamp: String) -> String { "\(database.nameText)\(mark)\(stamp)" }

    /// A time as it stands in names.
    static func stamp(_ time: Timestamp) -> String {
        time.description.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
    }
}
