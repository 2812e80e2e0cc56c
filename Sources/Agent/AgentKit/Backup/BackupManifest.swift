import Foundation
import Glibc
import JSONText
import OwnFiles
import Platform

/// The contents of a backup's `manifest.json`. `manifest.sha256` holds its hash in the format of sha256sum(1). The
/// manifest holds the hash of `files.jsonl`, which has a line with a hash for each file, so any changed byte is
/// detected.
package struct BackupManifest: Codable, Sendable {
    /// How consistent the stores are with each other.
    package enum Consistency: String, Codable, Sendable {
        /// The agent held its steps, and none was running.
        case held
        /// The agent held its steps, but a long one was running: consistent as after a power cut.
        case stepAtWork = "step-at-work"
        /// No agent was running.
        case stopped
        /// The agent could not be reached: the ledger may be a little older than the other stores.
        case unheld
    }

    package struct Store: Codable, Sendable, Equatable {
        /// Its folder in the backup.
        package var name: String
        /// Its original location: used to compare backups and to show whose backup this is, never as the restore
        /// target, which the configuration determines. nil for vaults.
        package var lay: BytePath?
        package var files = 0
        /// In bytes.
        package var size: Int64 = 0
        /// Folders without files, relative to the store's.
        package var emptyFolders: [BytePath] = []
        /// The store's root (as the empty path), and folders that others may enter or whose owner or group differs from
        /// the root's. Older backups record fewer or none.
        package var folders: [Folder]?
        /// Row counts of its databases, by name, to detect a later backup that has lost some. Missing in older backups.
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
        /// A name; nil if the id had no name, and in older backups.
        var owner: String?
        var group: String?
    }

    package var format = BackupManifest.currentFormat
    /// Version of the program that made it.
    package var version: String
    package var time: Timestamp
    package var host: String
    package var home: BytePath
    package var consistency: Consistency
    package var stores: [Store]
    /// The hash of `files.jsonl`.
    package var listing: ContentHash
    /// Over this document with zeros in place of the seal, with the key of the installation that made it; nil in older
    /// backups, and if the key could not be read.
    package private(set) var seal: String?
    /// The bytes covered by `seal`, if the manifest was read from a file.
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

    /// The serialized document.
    ///
    /// - Parameter key: nil for no seal.
    func document(sealedBy key: BackupKey?) throws -> [UInt8] {
        var manifest = self
        manifest.seal = nil
        guard let key else { return Array(try JSONText.document(manifest).utf8) }
        manifest.seal = Self.noSeal
        manifest.seal = try key.seal(Array(JSONText.document(manifest).utf8))
        return Array(try JSONText.document(manifest).utf8)
    }

    /// Whether it was made by the installation with this key.
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

    /// Whether both belong to the same agent, so that they may share files and one may be rotated out for the other.
    func isOfSameAgent(as other: BackupManifest) -> Bool { host == other.host && state == other.state }

    /// Whether it belongs to the agent with this state folder on this host.
    func isOfAgent(in state: BytePath) -> Bool { host == hostName() && self.state == state }

    /// Whether it belongs to an agent with this state folder, on any host.
    func keepsState(in folder: BytePath) -> Bool {
        state == folder || state.map(BackupStore.resolved) == BackupStore.resolved(folder)
    }

    /// The agent's state folder.
    var state: BytePath? { stores.first { $0.name == BackupStore.stateName }?.lay }

    /// Reads and verifies the manifest of a finished backup. Blocks.
    ///
    /// - Throws: `Fault(.usage)` if the folder is not a backup, `.failed` if its manifest is damaged.
    package static func read(in backup: BytePath) throws -> BackupManifest {
        let (bytes, hash): ([UInt8], [UInt8])
        do {
            bytes = try Descriptor(backup.appending(name)).readAll(limit: 16 << 20)
            hash = try Descriptor(backup.appending(hashName)).readAll(limit: 4096)
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            throw Fault(
                .usage,
                "\(backup) is not a Steward backup, or not a finished one: \(name) or \(hashName) is missing; name a "
                    + "folder steward-… that `steward backup` has finished", path: backup)
        }
        guard String(decoding: hash, as: UTF8.self).hasPrefix(ContentHash(of: bytes).description) else {
            throw Fault(
                .failed,
                "\(backup.appending(name)) is damaged: its hash differs from \(hashName); use another "
                    + "backup", path: backup.appending(name))
        }
        /// Common to all versions of the format.
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
                .failed, "\(backup.appending(name)) is not a backup manifest; use another backup",
                path: backup.appending(name))
        }
    }
}

/// A line of `files.jsonl`.
package struct BackedFile: Codable, Sendable, Equatable {
    package enum Role: String, Codable, Sendable { case file, database }

    /// Relative to the backup.
    package var path: BytePath
    package var role: Role
    /// In bytes.
    package var size: Int64
    package var sha256: ContentHash
    package var mode: mode_t
    /// A name; nil if the id had no name, and in older backups.
    package var owner: String?
    package var group: String?
    /// Times of the original, in nanoseconds as in ``Fingerprint``; used to detect an unchanged file.
    package var modified: Int64
    package var changed: Int64
}

/// Reads `files.jsonl` line by line, as it may not fit into memory. Blocks.
struct BackupListing {
    private let file: Descriptor
    private var buffer: [UInt8] = []
    private var offset: Int64 = 0
    private var start = 0

    init(in backup: BytePath) throws {
        file = try Descriptor(backup.appending(BackupManifest.listingName))
    }

    /// - Throws: `Fault(.failed)` for a malformed line.
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
        Fault(.failed, "\(file.path) is damaged: a line does not describe a file; use another backup", path: file.path)
    }
}
