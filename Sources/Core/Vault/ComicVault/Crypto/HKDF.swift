import Platform

/// HKDF with SHA-256 (RFC 5869).
package enum HKDF {
    /// - Parameters:
    ///   - salt: empty unless the format names one.
    ///   - count: bytes, at most 8,160.
    package static func derive(
        _ key: SecretBytes, salt: [UInt8] = [], info: [UInt8], count: Int = 32
    ) throws -> SecretBytes {
        try expand(extract(salt: salt, key), info: info, count: count)
    }

    /// - Parameter context: bytes that go before the key, as RFC 9180's labels do.
    static func extract(salt: [UInt8], after context: [UInt8] = [], _ key: SecretBytes) throws -> SecretBytes {
        try SecretBytes(count: HMACSHA256.size) { target in
            let mac = try salt.withUnsafeBytes { try HMACState($0) }
            try context.withUnsafeBytes { try mac.update($0) }
            try key.withBytes { try mac.update($0) }
            try mac.finish(into: target)
        }
    }

    static func expand(_ pseudorandomKey: SecretBytes, info: [UInt8], count: Int) throws -> SecretBytes {
        guard count <= 255 * HMACSHA256.size else {
            throw Fault(.failed, "HKDF cannot make \(count) bytes; this is a mistake in the program, please report it")
        }
        let size = HMACSHA256.size
        let blocks = (count + size - 1) / size
        let whole = try SecretBytes(count: blocks * size) { target in
            for block in 0..<blocks {
                let mac = try pseudorandomKey.withBytes { try HMACState($0) }
                if block > 0 {
                    try mac.update(UnsafeRawBufferPointer(rebasing: target[((block - 1) * size)..<(block * size)]))
                }
                try info.withUnsafeBytes { try mac.update($0) }
                try [UInt8(block + 1)].withUnsafeBytes { try mac.update($0) }
                try mac.finish(into: UnsafeMutableRawBufferPointer(rebasing: target[(block * size)...].prefix(size)))
            }
        }
        return whole.count == count ? whole : try whole.prefix(count)
    }
}
