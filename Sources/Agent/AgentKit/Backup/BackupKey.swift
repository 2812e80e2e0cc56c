import ComicVault
import Foundation
import Glibc
import OwnFiles
import Platform

/// The key with which an installation seals the manifests of its backups. Without the state folder, access to the
/// backup disk is not enough to forge a backup of this installation. The key is in no backup; an exported vault key
/// carries a copy. Everything here blocks.
package struct BackupKey: Sendable, Equatable {
    /// Relative to the state folder.
    static let name: BytePath = "backup.key"
    private static let size = 32

    package let bytes: [UInt8]

    /// The key of the installation with this state folder.
    ///
    /// - Returns: nil if there is none: no backup was made yet, or the state was lost.
    package static func read(in state: BytePath) throws -> BackupKey? {
        let file = state.appending(name)
        guard try FileStatus.of(file) != nil else { return nil }
        return try BackupKey(Descriptor(file).readAll(limit: 4096), of: file)
    }

    /// The same, creating the key if needed. If root does this for another user's agent, that user owns the key.
    package static func make(in state: BytePath) throws -> BackupKey {
        if let key = try read(in: state) { return key }
        try BackupKey(bytes: SecureRandom.bytes(size)).keep(in: state)
        // A concurrent backup may have created it first.
        guard let key = try read(in: state) else {
            throw Fault(.transient, "\(state.appending(name)) was removed in the meantime; try again", path: state)
        }
        return key
    }

    /// Saves it to a state folder that has none.
    package func keep(in state: BytePath) throws {
        guard try Self.read(in: state) == nil else { return }
        try RestoreOwner(of: state).act {
            let staged = state.appending(".steward-\(randomHex(16))")
            let file = try Descriptor(staged, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            do {
                try file.write(bytes, at: 0)
                try file.sync()
                guard try Durable.renameNew(staged, to: state.appending(Self.name)) else {
                    return try Durable.remove(staged)
                }
                try Durable.syncDirectory(state)
            } catch {
                try? Durable.remove(staged)
                throw error
            }
        }
    }

    /// Reads the key from an exported vault key, or from a copy of the file in the state folder.
    ///
    /// - Throws: `Fault(.usage)` for a file that is neither.
    package init(exported file: BytePath) throws {
        let opened = try Descriptor(file)
        if try opened.status().size == Int64(Self.size) {
            self = try BackupKey(opened.readAll(limit: 4096), of: file)
            return
        }
        do {
            guard let bytes = try SealedVault.backupKey(inExport: opened) else {
                throw Fault(
                    .usage, "\(file) is a vault key without the backup key: it was exported by an earlier version",
                    path: file)
            }
            self.init(bytes: bytes)
        } catch is VaultError {
            throw Fault(
                .usage, "\(file) is neither what `steward vault export-key` has written nor a copy of \(Self.name)",
                path: file)
        }
    }

    private init(_ bytes: [UInt8], of file: BytePath) throws {
        guard bytes.count == Self.size else {
            throw Fault(
                .failed,
                "\(file), this installation's backup key, is damaged: restore a copy, or move it away; then the next "
                    + "backup creates another, and earlier backups are no longer recognised as this installation's",
                path: file)
        }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The seal of a document: a MAC in hexadecimal.
    func seal(_ document: [UInt8]) throws -> String {
        hexadecimal(try HMACSHA256.tag(bytes, Array("steward backup manifest\0".utf8), document))
    }
}

/// Who made a backup, as far as this installation can tell.
package enum BackupOrigin: String, Encodable, Sendable {
    /// This installation: the manifest carries its seal.
    case here
    /// Another installation, anyone at all, or this one before seals were introduced.
    case elsewhere
    /// There is no key here to check with.
    case unknown

    package func line(_ state: BytePath) -> String {
        switch self {
        case .here: "made by this installation"
        case .elsewhere:
            "not known to be made by this installation: its seal is missing or wrong. An earlier version of steward made it, "
                + "or another installation, or anybody who can write to its disk"
        case .unknown:
            "its origin is unknown: there is no \(BackupKey.name) in \(state). An exported vault key contains it: "
                + "`--key FILE`"
        }
    }
}
