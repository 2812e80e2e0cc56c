import Platform

/// The recipient of a sealed object.
package enum SealTarget: Sendable {
    /// Objects of the unlocked vault.
    case vault(VaultKeys)
    /// Manifest snapshots (kind 6) of one generation.
    case snapshot(VaultKeys, generation: UInt64)
    /// Deposits, while the vault is locked: its public key, which the caller has compared with the pinned one.
    case publicKey([UInt8], VaultID)
}

/// The key that opens an object.
package enum OpeningKey: Sendable {
    case vault(VaultKeys)
    case snapshot(VaultKeys, generation: UInt64)
    /// Deposits.
    case keyPair(VaultKeyPair, VaultID)

    package var vault: VaultID {
        switch self {
        case .vault(let keys), .snapshot(let keys, _): keys.id
        case .keyPair(_, let id): id
        }
    }
}

/// The vault's X25519 key pair: the public half is in `vault.pub`, the private half in every slot.
package struct VaultKeyPair: Sendable {
    package let privateKey: SecretBytes
    package let publicKey: [UInt8]

    /// Computes the public half.
    package init(privateKey: SecretBytes) throws {
        self.privateKey = privateKey
        publicKey = try X25519.publicKey(of: privateKey)
    }
}

/// The secrets of one object while it is being sealed, and the header that holds them wrapped.
///
/// Name, key and HPKE's input are random, but still differ for different content if the kernel's generator repeats
/// itself (a resumed machine image).
struct ObjectSecrets: Sendable {
    let header: ObjectHeader
    let dataKey: SecretBytes

    /// - Parameter content: the hash from the validating pass.
    static func fresh(
        _ kind: ObjectKind, content: ContentHash, for target: SealTarget, at path: BytePath
    ) throws -> ObjectSecrets {
        try ObjectSecrets(
            kind, content: content, for: target, at: path, seed: .random(32),
            nonce: SecureRandom.bytes(AESGCM.nonceSize))
    }

    /// With the given randomness, for the format's test vectors.
    init(
        _ kind: ObjectKind, content: ContentHash, for target: SealTarget, at path: BytePath, seed: SecretBytes,
        nonce: [UInt8]
    ) throws {
        let vault = target.vault
        let material = try HKDF.derive(
            seed, info: Array("ivo1 object".utf8) + vault.bytes + [kind.rawValue] + content.bytes, count: 80)
        guard let id = ObjectID(bytes: material.withBytes { Array($0[..<16]) }) else {
            throw LibCrypto.refused("name an object")
        }
        dataKey = try material.slice(16..<48)
        let bound: [UInt8]
        let wrapped: [UInt8]
        switch target {
        case .vault, .snapshot:
            let none = [UInt8](repeating: 0, count: X25519.size)
            bound = ObjectHeader.bound(wrap: .masterKey, vault: vault, id: id, nonce: nonce, encapsulatedKey: none)
            let key = try target.wrappingKey(id, nonce)
            wrapped = try AESGCM.seal(key, nonce: Self.zeroNonce, aad: bound, dataKey)
        case .publicKey(let publicKey, _):
            let input = try material.slice(48..<80)
            let enc = try HPKE.deriveKeyPair(input).publicKey
            bound = ObjectHeader.bound(wrap: .publicKey, vault: vault, id: id, nonce: nonce, encapsulatedKey: enc)
            wrapped = try HPKE.seal(
                to: publicKey, info: Self.dropInfo(vault), aad: bound, ikmE: input, plaintext: dataKey
            ).sealed
        }
        header = try ObjectHeader(bound: bound, wrappedKey: wrapped, dataKey: dataKey, at: path)
    }

    // Safe because its key is used only once.
    static let zeroNonce = [UInt8](repeating: 0, count: AESGCM.nonceSize)

    static func dropInfo(_ vault: VaultID) -> [UInt8] { Array("ivo1 drop".utf8) + vault.bytes }

    static func contentKey(_ dataKey: SecretBytes, _ nonce: [UInt8]) throws -> SecretBytes {
        try HKDF.derive(dataKey, salt: nonce, info: Array("content".utf8))
    }
}

extension SealTarget {
    package var vault: VaultID {
        switch self {
        case .vault(let keys), .snapshot(let keys, _): keys.id
        case .publicKey(_, let id): id
        }
    }

    fileprivate func wrappingKey(_ id: ObjectID, _ nonce: [UInt8]) throws -> SecretBytes {
        switch self {
        case .vault(let keys): try keys.wrappingKey(id, nonce)
        case .snapshot(let keys, let generation): try keys.snapshotKey(id, nonce, generation)
        case .publicKey: throw LibCrypto.refused("wrap a deposit's key with the master key")
        }
    }
}

extension OpeningKey {
    /// Unwraps an object's key and checks the header's tag.
    ///
    /// - Throws: ``VaultError``.
    func dataKey(_ header: ObjectHeader, at path: BytePath) throws -> SecretBytes {
        guard header.vault == vault else {
            throw VaultError.wrongVault(path, found: header.vault, expected: vault)
        }
        guard let key = try unwrap(header) else { throw VaultError.damagedObject(path, .key) }
        guard try header.verifies(key) else { throw VaultError.damagedObject(path, .headerTag) }
        return key
    }

    private func unwrap(_ header: ObjectHeader) throws -> SecretBytes? {
        switch self {
        case .vault(let keys):
            try open(header, keys.wrappingKey(header.id, header.nonce))
        case .snapshot(let keys, let generation):
            try open(header, keys.snapshotKey(header.id, header.nonce, generation))
        case .keyPair(let pair, let vault):
            header.wrap != .publicKey
                ? nil
                : try HPKE.open(
                    enc: header.encapsulatedKey, privateKey: pair.privateKey, publicKey: pair.publicKey,
                    info: ObjectSecrets.dropInfo(vault), aad: header.bound, sealed: header.wrappedKey)
        }
    }

    private func open(_ header: ObjectHeader, _ key: SecretBytes) throws -> SecretBytes? {
        guard header.wrap == .masterKey else { return nil }
        return try AESGCM.openSecret(key, nonce: ObjectSecrets.zeroNonce, aad: header.bound, header.wrappedKey)
    }
}

extension VaultKeys {
    fileprivate func wrappingKey(_ id: ObjectID, _ nonce: [UInt8]) throws -> SecretBytes {
        try HKDF.derive(wrap, salt: id.bytes + nonce, info: Array("wrap".utf8))
    }

    fileprivate func snapshotKey(_ id: ObjectID, _ nonce: [UInt8], _ generation: UInt64) throws -> SecretBytes {
        try HKDF.derive(manifest, salt: id.bytes + nonce, info: Array("snap".utf8) + generation.bigEndianBytes)
    }
}
