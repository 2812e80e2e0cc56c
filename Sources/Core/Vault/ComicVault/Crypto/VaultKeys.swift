import Platform

/// The keys of an unlocked vault, one for each purpose, derived from the master key and the vault's name.
package struct VaultKeys: Sendable {
    package let id: VaultID
    /// Wraps the keys of objects (wrap 1).
    package let wrap: SecretBytes
    /// Seals logs and snapshots.
    package let manifest: SecretBytes
    /// Computes the duplicate tags in the manifest.
    package let dedup: SecretBytes

    /// - Parameter master: 32 bytes.
    package init(master: SecretBytes, id: VaultID) throws {
        guard master.count == 32 else {
            throw Fault(.failed, "a master key has 32 bytes, not \(master.count); please report it")
        }
        func key(_ label: String) throws -> SecretBytes {
            try HKDF.derive(master, info: Array("ivo1/\(label)".utf8) + id.bytes)
        }
        self.id = id
        wrap = try key("wrap")
        manifest = try key("manifest")
        dedup = try key("dedup")
    }

    /// The manifest keeps this instead of a content hash: without the key it reveals nothing about the content.
    package func duplicateTag(_ content: ContentHash) throws -> [UInt8] { try HMACSHA256.tag(dedup, content.bytes) }
}
