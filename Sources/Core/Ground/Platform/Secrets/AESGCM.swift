import COpenSSL

/// AES-256-GCM with 12-byte nonces and 16-byte tags. Never seal two texts with the same key and nonce.
package enum AESGCM {
    package static let nonceSize = 12
    package static let tagSize = 16

    /// - Returns: ciphertext, then tag.
    package static func seal(
        _ key: SecretBytes, nonce: [UInt8], aad: [UInt8], _ plaintext: UnsafeRawBufferPointer
    ) throws -> [UInt8] {
        let cipher = try GCMCipher(.seal, key: key)
        return try [UInt8](unsafeUninitializedCapacity: plaintext.count + tagSize) { buffer, filled in
            try nonce.withUnsafeBytes { nonce in
                try aad.withUnsafeBytes { aad in
                    try cipher.seal(nonce: nonce, aad: aad, plaintext, into: UnsafeMutableRawBufferPointer(buffer))
                }
            }
            filled = plaintext.count + tagSize
        }
    }

    package static func seal(
        _ key: SecretBytes, nonce: [UInt8], aad: [UInt8], _ plaintext: [UInt8]
    ) throws -> [UInt8] {
        try plaintext.withUnsafeBytes { try seal(key, nonce: nonce, aad: aad, $0) }
    }

    package static func seal(
        _ key: SecretBytes, nonce: [UInt8], aad: [UInt8], _ plaintext: SecretBytes
    ) throws -> [UInt8] {
        try plaintext.withBytes { try seal(key, nonce: nonce, aad: aad, $0) }
    }

    /// - Returns: nil if the tag does not verify.
    package static func open(
        _ key: SecretBytes, nonce: [UInt8], aad: [UInt8], _ sealed: [UInt8]
    ) throws -> [UInt8]? {
        guard sealed.count >= tagSize else { return nil }
        var verified = false
        let plaintext = try [UInt8](unsafeUninitializedCapacity: sealed.count - tagSize) { buffer, filled in
            verified = try open(key, nonce: nonce, aad: aad, sealed, into: UnsafeMutableRawBufferPointer(buffer))
            filled = verified ? sealed.count - tagSize : 0
        }
        return verified ? plaintext : nil
    }

    /// The same, into locked memory, for keys.
    package static func openSecret(
        _ key: SecretBytes, nonce: [UInt8], aad: [UInt8], _ sealed: [UInt8]
    ) throws -> SecretBytes? {
        guard sealed.count >= tagSize else { return nil }
        var verified = false
        let plaintext = try SecretBytes(count: sealed.count - tagSize) {
            verified = try open(key, nonce: nonce, aad: aad, sealed, into: $0)
        }
        return verified ? plaintext : nil
    }

    private static func open(
        _ key: SecretBytes, nonce: [UInt8], aad: [UInt8], _ sealed: [UInt8], into target: UnsafeMutableRawBufferPointer
    ) throws -> Bool {
        let cipher = try GCMCipher(.open, key: key)
        return try nonce.withUnsafeBytes { nonce in
            try aad.withUnsafeBytes { aad in
                try sealed.withUnsafeBytes { try cipher.open(nonce: nonce, aad: aad, $0, into: target) }
            }
        }
    }
}

/// A cipher with one key and direction, for many texts: computes the key schedule once and allocates nothing per text.
/// For one thread at a time.
package final class GCMCipher {
    package enum Direction { case seal, open }

    private let context: OpaquePointer

    /// - Parameter key: 32 bytes.
    package init(_ direction: Direction, key: SecretBytes) throws {
        guard let context = EVP_CIPHER_CTX_new() else { throw LibCrypto.refused("make a cipher") }
        self.context = context
        guard key.count == 32 else { throw LibCrypto.refused("use a key of \(key.count) bytes for AES-256") }
        let result = key.withBytes { key in
            EVP_CipherInit_ex(
                context, LibCrypto.aes256GCM, nil, key.baseAddress?.assumingMemoryBound(to: UInt8.self), nil,
                direction == .seal ? 1 : 0)
        }
        try LibCrypto.check(result, "set an AES-256-GCM key")
    }

    // libcrypto wipes the key schedule.
    deinit { EVP_CIPHER_CTX_free(context) }

    /// Writes ciphertext and tag.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes, never used with this key before.
    ///   - target: 16 bytes longer than `plaintext`; it may begin at the same address.
    package func seal(
        nonce: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer, _ plaintext: UnsafeRawBufferPointer,
        into target: UnsafeMutableRawBufferPointer
    ) throws {
        guard let output = target.baseAddress?.assumingMemoryBound(to: UInt8.self),
            target.count >= plaintext.count + AESGCM.tagSize
        else { throw LibCrypto.refused("seal into \(target.count) bytes") }
        try begin(nonce, aad, plaintext.count)
        try transform(plaintext, into: output)
        var written: Int32 = 0
        try LibCrypto.check(EVP_CipherFinal_ex(context, output + plaintext.count, &written), "seal")
        let got = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(AESGCM.tagSize), output + plaintext.count)
        try LibCrypto.check(got, "make a tag")
    }

    /// Writes the plaintext if the tag verifies; otherwise wipes the output and returns false.
    ///
    /// - Parameters:
    ///   - sealed: ciphertext and tag, at least 16 bytes.
    ///   - target: 16 bytes shorter; it may begin at the same address.
    package func open(
        nonce: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer, _ sealed: UnsafeRawBufferPointer,
        into target: UnsafeMutableRawBufferPointer
    ) throws -> Bool {
        let length = sealed.count - AESGCM.tagSize
        guard length >= 0, target.count >= length, let source = sealed.baseAddress else {
            throw LibCrypto.refused("open \(sealed.count) bytes into \(target.count)")
        }
        try begin(nonce, aad, length)
        let output = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try transform(UnsafeRawBufferPointer(start: source, count: length), into: output)
        let set = EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_SET_TAG, Int32(AESGCM.tagSize), UnsafeMutableRawPointer(mutating: source + length))
        try LibCrypto.check(set, "take a tag")
        var rest = (UInt64(0), UInt64(0))
        var written: Int32 = 0
        let verified = withUnsafeMutableBytes(of: &rest) {
            EVP_CipherFinal_ex(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), &written)
        }
        if verified == 1 { return true }
        if let output { OPENSSL_cleanse(output, length) }
        ERR_clear_error()
        return false
    }

    private func begin(_ nonce: UnsafeRawBufferPointer, _ aad: UnsafeRawBufferPointer, _ length: Int) throws {
        guard nonce.count == AESGCM.nonceSize, length < Int(Int32.max), aad.count < Int(Int32.max) else {
            throw LibCrypto.refused("seal or open \(length) bytes with a nonce of \(nonce.count)")
        }
        let initialised = EVP_CipherInit_ex(
            context, nil, nil, nil, nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), -1)
        try LibCrypto.check(initialised, "set a nonce")
        try transform(aad, into: nil)
    }

    /// Processes associated data if `output` is nil.
    private func transform(_ input: UnsafeRawBufferPointer, into output: UnsafeMutablePointer<UInt8>?) throws {
        if input.isEmpty { return }
        var written: Int32 = 0
        let source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try LibCrypto.check(
            EVP_CipherUpdate(context, output, &written, source, Int32(input.count)), "run AES-256-GCM")
    }
}
