import Platform

/// Names a key slot: `keys/<id>.slot`.
package struct SlotID: VaultIdentifier {
    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

/// One way to unlock a vault: its secrets, sealed under a key derived from a password or a key file.
///
/// ```
/// 0 magic8 | 8 format | 9 kind (1 password, 2 key file) | 10 zero2 | 12 be32 iterations (0 for a key file)
/// 16 vaultID16 | 32 slotID16 | 48 salt32 | 80 COMMIT32
/// 112 be32 length of vault.json | 116 zero12 | 128 vault.json, zeros up to 4224
/// 4224 nonce12 | 4236 secrets 96+16, under the KEK, with the 4,236 bytes before as associated data
/// ```
package struct KeySlot: Sendable {
    package static let magic = Array("IVO1KEY\n".utf8)
    package static let format: UInt8 = 1
    /// PBKDF2 iterations in format 1. Any other number is refused before anything is derived.
    package static let iterations: UInt32 = 600_000
    /// Bytes of the file.
    package static let size = 4348
    /// The maximum number of slots in a vault.
    package static let limit = 8
    private static let boundSize = 4236

    package let id: SlotID
    package let kind: Credential.Kind
    package let vault: VaultID
    /// The file, byte by byte.
    package let bytes: [UInt8]
    private let path: BytePath
    private let salt: [UInt8]
    private let commitment: [UInt8]
    private let description: [UInt8]

    /// Makes a slot, with a fresh salt and nonce. Blocks (``Credential``).
    package static func seal(
        _ secrets: VaultSecrets, _ id: SlotID, for credential: Credential, _ description: VaultDescription
    ) throws -> KeySlot {
        try seal(
            secrets, id, for: credential, description, salt: SecureRandom.bytes(32),
            nonce: SecureRandom.bytes(AESGCM.nonceSize))
    }

    /// With the given randomness, for the format's test vectors.
    static func seal(
        _ secrets: VaultSecrets, _ id: SlotID, for credential: Credential, _ description: VaultDescription,
        salt: [UInt8], nonce: [UInt8]
    ) throws -> KeySlot {
        guard secrets.id == description.id else {
            throw VaultError.strangeVault(expected: secrets.id, found: description.id)
        }
        let (key, commitment) = try derive(credential, salt: salt)
        let iterations = credential.kind == .password ? Self.iterations : 0
        var bound = magic + [format, credential.kind.rawValue, 0, 0] + iterations.bigEndianBytes
        bound += description.id.bytes + id.bytes + salt + commitment.withBytes { Array($0) }
        bound += UInt32(description.bytes.count).bigEndianBytes + [UInt8](repeating: 0, count: 12)
        bound += description.bytes
        bound += [UInt8](repeating: 0, count: boundSize - nonce.count - bound.count) + nonce
        return try KeySlot(
            bound + AESGCM.seal(key, nonce: nonce, aad: bound, secrets.payload), id, at: BytePath("\(id).slot"))
    }

    /// Performs all checks that need no key.
    ///
    /// - Parameters:
    ///   - id: the file's name.
    ///   - path: for messages.
    /// - Throws: ``VaultError/damagedSlot(_:why:)`` and ``VaultError/unsupportedFormat(_:what:)``.
    package init(_ bytes: [UInt8], _ id: SlotID, at path: BytePath) throws {
        func damaged(_ why: String) -> VaultError { .damagedSlot(path, why: why) }
        guard bytes.count == Self.size else { throw damaged("\(bytes.count) bytes instead of \(Self.size)") }
        var reader = ByteReader(bytes)
        guard reader.read(8) == Self.magic else { throw damaged("magic") }
        guard reader.integer(UInt8.self) == Self.format else {
            throw VaultError.unsupportedFormat(path, what: "slot format \(bytes[8])")
        }
        guard let kind = reader.integer(UInt8.self).flatMap(Credential.Kind.init) else {
            throw VaultError.unsupportedFormat(path, what: "slot kind \(bytes[9])")
        }
        guard reader.zeros(2) else { throw damaged("bytes 10 and 11") }
        guard let iterations = reader.integer(UInt32.self), iterations == (kind == .password ? Self.iterations : 0)
        else { throw VaultError.unsupportedFormat(path, what: "another number of iterations than 600,000") }
        guard let vault = reader.read(16).flatMap(VaultID.init), reader.read(16) == id.bytes else {
            throw damaged("it names another slot")
        }
        guard let salt = reader.read(32), let commitment = reader.read(32),
            let length = reader.integer(UInt32.self), length <= UInt32(VaultDescription.limit), reader.zeros(12),
            let description = reader.read(Int(length)), reader.zeros(VaultDescription.limit - Int(length))
        else { throw damaged("its copy of vault.json") }
        self.bytes = bytes
        self.id = id
        self.kind = kind
        self.vault = vault
        self.path = path
        self.salt = salt
        self.commitment = commitment
        self.description = description
    }

    /// Reads a slot's file. Blocks.
    package init(of file: Descriptor, _ id: SlotID) throws {
        try self.init(try file.read(at: 0, count: Self.size + 1), id, at: file.path)
    }

    /// Opens the slot. Blocks (``Credential``).
    ///
    /// - Parameter description: `vault.json` as found on disk; the slot's copy must equal it.
    /// - Throws: ``VaultError/incorrectPassword`` if the credential does not match.
    package func open(_ credential: Credential, _ description: VaultDescription) throws -> VaultSecrets {
        guard vault == description.id else {
            throw VaultError.wrongVault(path, found: vault, expected: description.id)
        }
        guard credential.kind == kind else { throw VaultError.incorrectPassword }
        let (key, expected) = try Self.derive(credential, salt: salt)
        // GCM alone does not commit to its key: a crafted slot could open with many passwords.
        guard expected.matches(try SecretBytes(commitment)) else { throw VaultError.incorrectPassword }
        let nonce = Array(bytes[(Self.boundSize - AESGCM.nonceSize)..<Self.boundSize])
        let payload = try AESGCM.openSecret(
            key, nonce: nonce, aad: Array(bytes[..<Self.boundSize]), Array(bytes[Self.boundSize...]))
        guard let payload else { throw VaultError.damagedSlot(path, why: "it does not verify") }
        guard let secrets = try VaultSecrets(id: vault, payload) else {
            throw VaultError.damagedSlot(path, why: "its public key is not that of its private key")
        }
        guard self.description == description.bytes else {
            throw VaultError.notAVault("vault.json", why: "it is not the one that the key slots were made with")
        }
        return secrets
    }

    /// KEK and COMMIT.
    private static func derive(
        _ credential: Credential, salt: [UInt8]
    ) throws -> (key: SecretBytes, commitment: SecretBytes) {
        let password = try credential.key(salt: salt)
        return (
            try HKDF.derive(password, info: Array("ivo1 kek".utf8)),
            try HKDF.derive(password, info: Array("ivo1 commit".utf8))
        )
    }
}
