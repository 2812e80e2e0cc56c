import Platform

/// The content of a slot: the master key and the key pair for deposits.
package struct VaultSecrets: Sendable {
    static let size = 96

    package let id: VaultID
    /// 32 bytes.
    package let master: SecretBytes
    package let keyPair: VaultKeyPair
    package let keys: VaultKeys

    /// Makes the secrets of a new vault.
    package static func generate(for id: VaultID) throws -> VaultSecrets {
        try VaultSecrets(id: id, master: .random(32), privateKey: .random(X25519.size))
    }

    init(id: VaultID, master: SecretBytes, privateKey: SecretBytes) throws {
        self.id = id
        self.master = master
        keyPair = try VaultKeyPair(privateKey: privateKey)
        keys = try VaultKeys(master: master, id: id)
    }

    /// - Returns: nil if the stored public key does not belong to the private one.
    init?(id: VaultID, _ payload: SecretBytes) throws {
        guard payload.count == Self.size else { return nil }
        try self.init(id: id, master: payload.prefix(32), privateKey: payload.slice(32..<64))
        guard payload.withBytes({ Array($0[64...]) }) == keyPair.publicKey else { return nil }
    }

    /// Master key, private key, public key.
    var payload: SecretBytes {
        get throws {
            try master.appending(keyPair.privateKey).appending(SecretBytes(keyPair.publicKey))
        }
    }
}
