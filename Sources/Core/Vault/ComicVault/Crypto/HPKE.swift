import Platform

/// HPKE (RFC 9180) in base mode, single-shot, with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM. libcrypto
/// 3.0 has no HPKE interface.
package enum HPKE {
    private static let kemSuite = Array("KEM".utf8) + [0x00, 0x20]
    private static let suite = Array("HPKE".utf8) + [0x00, 0x20, 0x00, 0x01, 0x00, 0x02]

    /// Seals a plaintext to the holder of a private key.
    ///
    /// - Parameter ikmE: at least 32 secret bytes, used for nothing else, from which the ephemeral key is derived.
    /// - Returns: the encapsulated key (32 bytes), and ciphertext with tag.
    package static func seal(
        to publicKey: [UInt8], info: [UInt8], aad: [UInt8], ikmE: SecretBytes, plaintext: SecretBytes
    ) throws -> (enc: [UInt8], sealed: [UInt8]) {
        let ephemeral = try deriveKeyPair(ikmE)
        guard let shared = try X25519.sharedSecret(ephemeral.privateKey, with: publicKey) else {
            throw Fault(.failed, "the vault's public key is not an X25519 key that can be sealed to; restore vault.pub")
        }
        let secret = try encapsulated(shared, ephemeral.publicKey, publicKey)
        let (key, nonce) = try schedule(secret, info: info)
        return (ephemeral.publicKey, try AESGCM.seal(key, nonce: nonce, aad: aad, plaintext))
    }

    /// - Returns: nil if it was not sealed to this key with this `info` and `aad`, or was changed.
    package static func open(
        enc: [UInt8], privateKey: SecretBytes, publicKey: [UInt8], info: [UInt8], aad: [UInt8], sealed: [UInt8]
    ) throws -> SecretBytes? {
        guard let shared = try X25519.sharedSecret(privateKey, with: enc) else { return nil }
        let secret = try encapsulated(shared, enc, publicKey)
        let (key, nonce) = try schedule(secret, info: info)
        return try AESGCM.openSecret(key, nonce: nonce, aad: aad, sealed)
    }

    /// DeriveKeyPair of RFC 9180, section 7.1.3.
    package static func deriveKeyPair(_ ikm: SecretBytes) throws -> (privateKey: SecretBytes, publicKey: [UInt8]) {
        let pseudorandomKey = try labeledExtract([], "dkp_prk", ikm, kemSuite)
        let privateKey = try labeledExpand(pseudorandomKey, "sk", [], 32, kemSuite)
        return (privateKey, try X25519.publicKey(of: privateKey))
    }

    /// ExtractAndExpand of section 4.1.
    private static func encapsulated(
        _ shared: SecretBytes, _ enc: [UInt8], _ recipient: [UInt8]
    ) throws -> SecretBytes {
        let key = try labeledExtract([], "eae_prk", shared, kemSuite)
        return try labeledExpand(key, "shared_secret", enc + recipient, 32, kemSuite)
    }

    /// KeySchedule of section 5.1 in base mode; with sequence number 0 the base nonce is the nonce.
    private static func schedule(_ shared: SecretBytes, info: [UInt8]) throws -> (SecretBytes, [UInt8]) {
        let none = try SecretBytes(count: 0)
        let identifierHash = try labeledExtract([], "psk_id_hash", none, suite)
        let infoHash = try labeledExtract([], "info_hash", SecretBytes(info), suite)
        let context = [0] + identifierHash.withBytes { Array($0) } + infoHash.withBytes { Array($0) }
        let secret = try labeledExtract(shared.withBytes { Array($0) }, "secret", none, suite)
        let key = try labeledExpand(secret, "key", context, 32, suite)
        let nonce = try labeledExpand(secret, "base_nonce", context, AESGCM.nonceSize, suite)
        return (key, nonce.withBytes { Array($0) })
    }

    private static func labeledExtract(
        _ salt: [UInt8], _ label: String, _ key: SecretBytes, _ suite: [UInt8]
    ) throws -> SecretBytes {
        try HKDF.extract(salt: salt, after: Array("HPKE-v1".utf8) + suite + Array(label.utf8), key)
    }

    private static func labeledExpand(
        _ key: SecretBytes, _ label: String, _ info: [UInt8], _ count: Int, _ suite: [UInt8]
    ) throws -> SecretBytes {
        let labeled = UInt16(count).bigEndianBytes + Array("HPKE-v1".utf8) + suite + Array(label.utf8) + info
        return try HKDF.expand(key, info: labeled, count: count)
    }
}
