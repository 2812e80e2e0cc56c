import Foundation
import Glibc
import JSONText
import OwnFiles
import Platform

/// What stands in `manifest.json` of a backup. `manifest.sha256` holds its hash, in the form of sha256sum(1); it holds that
/// of `files.jsonl`, where each file has a line with its own: so whatever byte changes is found.
package struct BackupManifest: Codable, Sendable {
    /// How the stores stand to each other.
    package enum Consistency: String, Codable, Sendable {
        /// As they were while the agent held its steps, and none was at work.
        case held
        /// The agent held its steps; one that takes long was at work, as where power is cut.
        case stepAtWork = "step-at-work"
        /// No agent ran.
        case stopped
        /// The agent could not be asked: the ledger may be a little older than the other stores.
        case unheld
    }

    package struct Store: Codable, Sendable, Equatable {
        /// Its folder in the backup.
        package var name: String
        /// Where it lay: by this two backups are compared, and a person is told whose one is. It never says where something
        /// is restored to, which the configuration does. Vaults have none.
        package var lay: BytePath?
        package var files = 0
        /// Bytes.
        package var size: Int64 = 0
        /// Folders in which no file lies, below the store's.
        package var emptyFolders: [BytePath] = []
        /// The store's own, which has the empty path, and those that others than their owner may enter or that are of
        /// another owner or group than that. Older backups tell less, or nothing.
        package var folders: [Folder]?
        /// What its databases hold, by their names, where a backup with fewer could be one that has lost some. Older
        /// backups do not tell.
        package var rows: [String: Int]?

        private enum CodingKeys: String, CodingKey {
            case name
            case lay = "root"
            case files, size, emptyFolders, folders, rows
        }
    }

    package struct Folder: Codable, Sendable, Equatable {
        let path: BytePath
        let mode: mode_t
        /// By name; nil where the number had none, and in backups of before.
        var owner: String?
        var group: String?
    }

    package var format = BackupManifest.currentFormat
    /// Of the program that made it.
    package var version: String
    package var time: Timestamp
    package var host: String
    package var home: BytePath
    package var consistency: Consistency
    package var stores: [Store]
    /// Of `files.jsonl`.
    package var listing: ContentHash
    /// Of this document with zeros in the place of the seal, by the key of the installation that made it; nil in backups of
    /// before, and where the key could not be read.
    package private(set) var seal: String?
    /// What `seal` is of, where this was read.
    private var sealed: [UInt8] = []

    private enum CodingKeys: CodingKey {
        case format, version, time, host, home, consistency, stores, listing, seal
    }

    private static let noSeal = String(repeating: "0", count: 2 * HMACSHA256.size)

    package init(
        version: String, time: Timestamp, host: String, home: BytePath, consistency: Consistency, stores: [Store],
        listing: ContentHash
    ) {
        (self.version, self.time, self.host, self.home) = (version, time, host, home)
        (self.consistency, self.stores, self.listing) = (consistency, stores, listing)
    }

    /// The document as it is written.
    ///
    /// - Parameter key: nil for one without a seal.
    func document(sealedBy key: BackupKey?) throws -> [UInt8] {
        var manifest = self
        manifest.seal = nil
        guard let key else { return Array(try JSONText.document(manifest).utf8) }
        manifest.seal = Self.noSeal
        manifest.seal = try key.seal(Array(JSONText.document(manifest).utf8))
        return Array(try JSONText.document(manifest).utf8)
    }

    /// Whether the installation that has this key made it.
    func isSealed(by key: BackupKey) throws -> Bool {
        guard let seal else { return false }
        return constantTimeEqual(Array(try key.seal(sealed).utf8), Array(seal.utf8))
    }

    package static let currentFormat = 1
    static let name: BytePath = "manifest.json"
    static let hashName: BytePath = "manifest.sha256"
    static let listingName: BytePath = "files.jsonl"
    static let own: Set<BytePath> = [name, hashName, listingName]

    package var files: Int { stores.reduce(0) { $0 + $1.files } }
    package var size: Int64 { stores.reduce(0) { $0 + $1.size } }

    /// Whether both are of one agent, so that one may take files from the other, or its place.
    func isOfSameAgent(as other: BackupManifest) -> Bool { host == other.host && state == other.state }

    /// Whether it is of the agent that has its state there on this host.
    func isOfAgent(in state: BytePath) -> Bool { host == hostName() && self.state == state }

    /// Whether it is of an agent that has its state there, on whichever host.
    func keepsState(in folder: BytePath) -> Bool {
        state == folder || state.map(BackupStore.resolved) == BackupStore.resolved(folder)
    }

    /// Where the agent had its state.
    var state: BytePath? { stores.first { $0.name == BackupStore.stateName }?.lay }

    /// Reads the manifest of a finished backup, and sees that it is the one that was written. Blocks.
    ///
    /// - Throws: `Fault(.usage)` for a folder that is no backup, `.failed` for one whose manifest is damaged.
    package static func read(in backup: BytePath) throws -> BackupManifest {
        let (bytes, hash): ([UInt8], [UInt8])
        do {
            bytes = try Descriptor(backup.appending(name)).readAll(limit: 16 << 20)
            hash = try Descriptor(backup.appending(hashName)).readAll(limit: 4096)
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            throw Fault(
                .usage,
                "\(backup) is no backup of Steward's, or not a finished one: \(name) or \(hashName) is missing in it; name a "
                    + "folder steward-… that `steward backup` has finished", path: backup)
        }
        guard String(decoding: hash, as: UTF8.self).hasPrefix(ContentHash(of: bytes).description) else {
            throw Fault(
                .failed,
                "\(backup.appending(name)) is damaged: it has not the hash that \(hashName) says; take another "
                    + "backup", path: backup.appending(name))
        }
        /// What every version of the format has.
        struct Format: Decodable { let format: Int }
        do {
            let format = try JSONDecoder().decode(Format.self, from: Data(bytes)).format
            guard format == currentFormat else {
                throw Fault(
                    .usage,
                    "\(backup) has the format \(format), and this version of steward knows \(currentFormat); "
                        + "restore it with the version that made it, or a newer one", path: backup)
            }
            var manifest = try JSONDecoder().decode(BackupManifest.self, from: Data(bytes))
            if let seal = manifest.seal, seal.utf8.count == noSeal.utf8.count {
                manifest.sealed = Array(String(decoding: bytes, as: UTF8.self).replacing(seal, with: noSeal).utf8)
            }
            return manifest
        } catch is DecodingError {
            throw Fault(
                .failed, "\(backup.appending(name)) is not the manifest of a backup; take another backup",
                path: backup.appending(name))
        }
    }
}

/// A line of `files.jsonl`.
package struct BackedFile: Codable, Sendable, Equatable {
    package enum Role: String, Codable, Sendable { case file, database }

    /// In the backup.
    package var path: BytePath
    package var role: Role
    /// Bytes.
    package var size: Int64
    package var sha256: ContentHash
    package var mode: mode_t
    /// By name; nil where the number had none, and in backups of before.
    package var owner: String?
    package var group: String?
    /// Of the original, in nanoseconds as in ``Fingerprint``: by these two an unchanged one is known again.
    package var modified: Int64
    package var changed: Int64
}

/// The lines of `files.jsonl`, one at a time: there may be more than fit into memory. Blocks.
struct BackupListing {
    private let file: Descriptor
    private var buffer: [UInt8] = []
    private var offset: Int64 = 0
    private var start = 0

    init(in backup: BytePath) throws {
        file = try Descriptor(backup.appending(BackupManifest.listingName))
    }

    /// - Throws: `Fault(.failed)` for a line that is none.
    mutating func next() throws -> BackedFile? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(buffer[start..<end])
                start = end + 1
                do {
                    return try JSONDecoder().decode(BackedFile.self, from: line)
                } catch {
                    throw damaged
                }
            }
            let part = try file.read(at: offset, count: 65_536)
            if part.isEmpty {
                guard start == buffer.count else { throw damaged }
                return nil
            }
            offset += Int64(part.count)
            buffer.removeFirst(start)
            start = 0
            buffer += part
        }
    }

    private var damaged: Fault {
        Fault(.failed, "\(file.path) is damaged: a line of it is not a file's; take another backup", path: file.path)
    }
}
