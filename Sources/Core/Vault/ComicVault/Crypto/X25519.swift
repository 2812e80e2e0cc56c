import COpenSSL
import Platform

/// Diffie-Hellman on Curve25519 (RFC 7748).
package enum X25519 {
    package static let size = 32

    package static func publicKey(of privateKey: SecretBytes) throws -> [UInt8] {
        let key = try PrivateKey(privateKey)
        var bytes = [UInt8](repeating: 0, count: size)
        var length = size
        try LibCrypto.check(EVP_PKEY_get_raw_public_key(key.raw, &bytes, &length), "compute an X25519 public key")
        return bytes
    }

    /// - Returns: nil if `publicKey` yields no secret (an all-zero result: a point of small order).
    package static func sharedSecret(_ privateKey: SecretBytes, with publicKey: [UInt8]) throws -> SecretBytes? {
        guard publicKey.count == size else { return nil }
        let own = try PrivateKey(privateKey)
        guard let peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, publicKey, size) else {
            throw LibCrypto.refused("take an X25519 public key")
        }
        defer { EVP_PKEY_free(peer) }
        guard let context = EVP_PKEY_CTX_new(own.raw, nil) else { throw LibCrypto.refused("begin X25519") }
        defer { EVP_PKEY_CTX_free(context) }
        try LibCrypto.check(EVP_PKEY_derive_init(context), "begin X25519")
        try LibCrypto.check(EVP_PKEY_derive_set_peer(context, peer), "take an X25519 public key")
        var derived: Int32 = 0
        let secret = try SecretBytes(count: size) { target in
            var length = size
            derived = EVP_PKEY_derive(context, target.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
        }
        // libcrypto refuses the all-zero result; the comparison is for a libcrypto that would not.
        if derived != 1 {
            ERR_clear_error()
            return nil
        }
        return try secret.matches(SecretBytes(count: size)) ? nil : secret
    }

    private struct PrivateKey: ~Copyable {
        let raw: OpaquePointer

        init(_ bytes: SecretBytes) throws {
            let key = bytes.withBytes {
                EVP_PKEY_new_raw_private_key(
                    EVP_PKEY_X25519, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
            }
            guard let key else { throw LibCrypto.refused("take an X25519 private key") }
            raw = key
        }

        deinit { EVP_PKEY_free(raw) }
    }
}
