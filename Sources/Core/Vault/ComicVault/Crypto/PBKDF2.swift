import COpenSSL
import Platform

/// PBKDF2 with HMAC-SHA256 (RFC 8018).
package enum PBKDF2 {
    /// Takes a quarter of a second for 600,000 iterations. Blocks: use it on a ``BlockingPool``.
    package static func derive(
        password: SecretBytes, salt: [UInt8], iterations: Int, count: Int
    ) throws -> SecretBytes {
        try SecretBytes(count: count) { target in
            let result = password.withBytes { password in
                PKCS5_PBKDF2_HMAC(
                    password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count), salt,
                    Int32(salt.count), Int32(iterations), EVP_sha256(), Int32(count),
                    target.baseAddress?.assumingMemoryBound(to: UInt8.self))
            }
            try LibCrypto.check(result, "derive a key from a password")
        }
    }
}
