import Platform

/// Seals or opens the chunks of one object. Each chunk is bound to its number, to whether it is the last, and to the
/// header. Not thread-safe.
final class ChunkCipher {
    private let cipher: GCMCipher
    private let fileNonce: [UInt8]
    private let last: Int64
    // Changed in place for each chunk, to avoid allocations.
    private var nonce: [UInt8]
    private var aad: [UInt8]

    init(_ direction: GCMCipher.Direction, _ header: ObjectHeader, contentKey: SecretBytes, size: ObjectSize) throws {
        cipher = try GCMCipher(direction, key: contentKey)
        fileNonce = header.nonce
        nonce = header.nonce
        aad = header.digest + [UInt8](repeating: 0, count: 9)
        last = size.chunks - 1
    }

    /// - Parameter target: 16 bytes longer than `plaintext`.
    func seal(
        _ index: Int64, _ plaintext: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) throws {
        bind(index)
        try nonce.withUnsafeBytes { nonce in
            try aad.withUnsafeBytes { aad in
                try cipher.seal(nonce: nonce, aad: aad, plaintext, into: target)
            }
        }
    }

    /// - Parameter target: may begin where `sealed` does.
    /// - Returns: false, with nothing left in `target`, if the chunk does not verify.
    func open(
        _ index: Int64, _ sealed: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) throws -> Bool {
        bind(index)
        return try nonce.withUnsafeBytes { nonce in
            try aad.withUnsafeBytes { aad in
                try cipher.open(nonce: nonce, aad: aad, sealed, into: target)
            }
        }
    }

    private func bind(_ index: Int64) {
        let isLast: UInt8 = index == last ? 1 : 0
        for byte in 0..<8 { aad[32 + byte] = UInt8(truncatingIfNeeded: index >> (8 * (7 - Int64(byte)))) }
        aad[40] = isLast
        for byte in 0..<4 {
            nonce[7 + byte] = fileNonce[7 + byte] ^ UInt8(truncatingIfNeeded: index >> (8 * (3 - Int64(byte))))
        }
        nonce[11] = fileNonce[11] ^ isLast
    }
}
