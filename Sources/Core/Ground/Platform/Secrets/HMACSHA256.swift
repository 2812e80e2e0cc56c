import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    package static let size = 32

    /// The 32-byte tag of the concatenated parts.
    package static func tag(_ key: SecretBytes, _ parts: [UInt8]...) throws -> [UInt8] {
        try key.withBytes { try tag($0, parts) }
    }

    /// The same with a key in ordinary memory.
    package static func tag(_ key: [UInt8], _ parts: [UInt8]...) throws -> [UInt8] {
        try key.withUnsafeBytes { try tag($0, parts) }
    }

    private static func tag(_ key: UnsafeRawBufferPointer, _ parts: [[UInt8]]) throws -> [UInt8] {
        let mac = try HMACState(key)
        for part in parts { try part.withUnsafeBytes { try mac.update($0) } }
        var tag = [UInt8](repeating: 0, count: size)
        try tag.withUnsafeMutableBytes { try mac.finish(into: $0) }
        return tag
    }
}

/// Incremental HMAC-SHA256.
package final class HMACState {
    private let context: OpaquePointer?

    package init(_ key: UnsafeRawBufferPointer) throws {
        context = EVP_MAC_CTX_new(LibCrypto.hmac)
        // To HMAC, an empty key equals a block of zeros; libcrypto takes an empty key for none at all.
        let zeros: [UInt8] = [0]
        let result = zeros.withUnsafeBytes { zeros in
            Self.initialise(context, key.isEmpty ? zeros : key)
        }
        try LibCrypto.check(result, "begin HMAC-SHA256")
    }

    deinit { EVP_MAC_CTX_free(context) }

    private static func initialise(_ context: OpaquePointer?, _ key: UnsafeRawBufferPointer) -> Int32 {
        var digest = Array("SHA256".utf8CString)
        return digest.withUnsafeMutableBytes { digest in
            "digest".withCString { name in
                let parameters = [
                    OSSL_PARAM(
                        key: name, data_type: UInt32(OSSL_PARAM_UTF8_STRING), data: digest.baseAddress,
                        data_size: digest.count - 1, return_size: 0),
                    OSSL_PARAM(key: nil, data_type: 0, data: nil, data_size: 0, return_size: 0),
                ]
                return EVP_MAC_init(context, key.baseAddress, key.count, parameters)
            }
        }
    }

    package func update(_ bytes: UnsafeRawBufferPointer) throws {
        if bytes.isEmpty { return }
        try LibCrypto.check(EVP_MAC_update(context, bytes.baseAddress, bytes.count), "compute HMAC-SHA256")
    }

    /// - Parameter target: 32 bytes.
    package func finish(into target: UnsafeMutableRawBufferPointer) throws {
        var written = 0
        try LibCrypto.check(EVP_MAC_final(context, target.baseAddress, &written, target.count), "end HMAC-SHA256")
    }
}
