import Glibc
import OwnFiles
import Platform

/// A way to unlock the vault, as `vault slots` lists it.
package struct SlotInfo: Sendable {
    package let id: SlotID
    /// nil if the slot is damaged.
    package let kind: Credential.Kind?
    package let damage: VaultError?
}

extension SealedVault {
    /// All slots; also works while the vault is locked.
    package func slots() throws -> [SlotInfo] {
        let seen = try host.slots()
        return try keySlots.names().map { id in
            do {
                let slot = try keySlots.read(id)
                guard seen[id] == nil || seen[id] == ContentHash(of: slot.bytes) else {
                    let why =
                        "it has changed since this host last saw it; if another host changed it, unlock with it once"
                    throw VaultError.damagedSlot(folder.full(VaultLayout.slot(id.description)), why: why)
                }
                return SlotInfo(id: id, kind: slot.kind, damage: nil)
            } catch let error as VaultError {
                return SlotInfo(id: id, kind: nil, damage: error)
            }
        }
    }

    /// Atomically replaces an old password or key file by a new one, at a cost independent of the vault's size. Other
    /// slots stay valid, and so do backups of the old one: see ``rekey(at:host:old:new:progress:)``.
    ///
    /// - Returns: the slot that was replaced.
    package func change(_ old: Credential, to new: Credential) throws -> SlotID {
        try withLock {
            let opened = try keySlots.open(old)
            var seen = try host.slots()
            if seen.removeValue(forKey: opened.slot) != nil { try host.replaceSlots(seen) }
            try keySlots.write(opened.secrets, opened.slot, for: new, replaces: true)
            rememberSlots(opened.slot)
            return opened.slot
        }
    }

    /// Adds a slot to the unlocked vault.
    package func addSlot(_ credential: Credential) throws -> SlotID {
        let id = try SlotID.random()
        try unlocked().withSecrets { try keySlots.write($0, id, for: credential, replaces: false) }
        rememberSlots(id)
        return id
    }

    /// Removes a slot of the unlocked vault; never the last intact one.
    package func removeSlot(_ id: SlotID) throws {
        _ = try unlocked()
        try keySlots.remove(id)
    }

    /// Writes the vault's secrets to a new file with mode 0600, from which ``importKey(_:credential:)`` makes a slot if
    /// every password is lost. Possession of the file is access to the vault.
    ///
    /// - Parameter backupKey: 32 bytes that distinguish this installation's backups from others, included in the file;
    ///   nil for none.
    package func exportKey(to target: BytePath, backupKey: [UInt8]? = nil) throws {
        let session = try unlocked()
        let file = try Descriptor(target, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        do {
            try session.withSecrets { try KeyExport.write($0, backupKey, to: file) }
        } catch {
            try? Durable.remove(target)
            throw error
        }
        try Durable.syncDirectory(target.parent)
    }

    /// Makes a slot for `credential` from an exported key, while the vault is locked.
    ///
    /// - Throws: ``VaultError/strangeVault(expected:found:)`` if it is another vault's key;
    ///   ``VaultError/unusableKeyFile(_:)``.
    package func importKey(_ source: BytePath, credential: Credential) throws -> SlotID {
        let secrets = try KeyExport.read(Descriptor(source)).secrets
        guard secrets.id == id else { throw VaultError.strangeVault(expected: id, found: secrets.id) }
        return try withLock {
            // A key that does not open the manifest must not become a slot.
            _ = try ManifestReading(folder, keys: secrets.keys, mark: nil, dropsTornTail: true)
            let slot = try SlotID.random()
            try keySlots.write(secrets, slot, for: credential, replaces: false)
            rememberSlots(slot)
            return slot
        }
    }

    /// The backup key that ``exportKey(to:backupKey:)`` has included; nil for none.
    ///
    /// - Throws: ``VaultError/unusableKeyFile(_:)``.
    package static func backupKey(inExport file: Descriptor) throws -> [UInt8]? { try KeyExport.read(file).backupKey }

    /// For slots just written. If it fails, the next unlock does it.
    func rememberSlots(_ written: SlotID?) { try? noteSlots(written) }

    /// Remembers the current slots: new ones, and the one that has just opened.
    func noteSlots(_ opened: SlotID?) throws {
        let known = try host.slots()
        var seen: [SlotID: ContentHash] = [:]
        for id in try keySlots.names() {
            if id != opened, let hash = known[id] {
                seen[id] = hash
            } else if let slot = try? keySlots.read(id) {
                seen[id] = ContentHash(of: slot.bytes)
            }
        }
        if seen != known { try host.replaceSlots(seen) }
    }

    private var keySlots: KeySlots { KeySlots(folder, description) }

    /// Runs with the vault's lock held; an unlocked vault holds it already.
    private func withLock<R>(_ body: () throws -> R) throws -> R {
        if isUnlocked { return try body() }
        let lock = try acquireLock()
        defer { try? FileLock.release(lock) }
        return try body()
    }
}

/// The layout of an exported key: a line that identifies it, the vault's name, the secrets, in version 2 the key of the
/// installation's backups, and a checksum, in bytes.
private enum KeyExport {
    private static let magic = Array("steward vault key 1\n".utf8)
    private static let magicWithBackups = Array("steward vault key 2\n".utf8)
    private static let backupKeySize = 32

    static func write(_ secrets: VaultSecrets, _ backupKey: [UInt8]?, to file: Descriptor) throws {
        let payload = try secrets.payload
        let magic = backupKey == nil ? magic : magicWithBackups
        let added = backupKey ?? []
        try file.write(magic + secrets.id.bytes, at: 0)
        try payload.withBytes { try file.write($0, at: Int64(magic.count + VaultID.size)) }
        let sum = try HMACSHA256.tag(payload, magic, secrets.id.bytes, added)
        try file.write(added + sum, at: Int64(magic.count + VaultID.size + payload.count))
        try file.sync()
    }

    static func read(_ file: Descriptor) throws -> (secrets: VaultSecrets, backupKey: [UInt8]?) {
        let found = try file.read(at: 0, count: magic.count)
        let added = found == magicWithBackups ? backupKeySize : 0
        let start = magic.count + VaultID.size + VaultSecrets.size
        guard found == magic || found == magicWithBackups,
            try file.status().size == Int64(start + added + HMACSHA256.size),
            let id = VaultID(bytes: try file.read(at: Int64(magic.count), count: VaultID.size))
        else { throw VaultError.unusableKeyFile("\(file.path) is not an exported vault key, or incomplete") }
        let payload = try SecretBytes(count: VaultSecrets.size) {
            _ = try file.read(into: $0, at: Int64(magic.count + VaultID.size))
        }
        let backupKey = try file.read(at: Int64(start), count: added)
        let sum = try file.read(at: Int64(start + added), count: HMACSHA256.size)
        guard constantTimeEqual(try HMACSHA256.tag(payload, found, id.bytes, backupKey), sum),
            let secrets = try VaultSecrets(id: id, payload)
        else { throw VaultError.unusableKeyFile("\(file.path) is damaged") }
        return (secrets, added == 0 ? nil : backupKey)
    }
}
