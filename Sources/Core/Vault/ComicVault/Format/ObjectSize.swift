import Platform

/// The sizes of an object: its content, the padded plaintext, and the resulting file. All in bytes.
package struct ObjectSize: Hashable, Sendable {
    package static let header = 256
    package static let chunk = 65_536
    package static let sealedChunk = chunk + AESGCM.tagSize
    /// Kind, seven zeros and the length, before the content.
    package static let preamble = 16
    /// Larger than any file, and with few enough chunks that 32 bits count them.
    package static let limit: Int64 = 1 << 48

    /// The plaintext with preamble and padding: T in the format.
    package let padded: Int64

    /// - Returns: nil for content longer than the format allows.
    package init?(content length: Int64) {
        guard length >= 0, length <= Self.limit - Int64(Self.preamble) else { return nil }
        padded = max(Int64(Self.chunk), Self.padme(length + Int64(Self.preamble)))
    }

    /// - Returns: nil if no object has a file of that size.
    package init?(file: Int64) {
        let limit = Self.limit + (Self.limit / Int64(Self.chunk)) * Int64(AESGCM.tagSize)
        guard file > Int64(Self.header), file - Int64(Self.header) <= limit else { return nil }
        let sealed = file - Int64(Self.header)
        let count = (sealed + Int64(Self.sealedChunk) - 1) / Int64(Self.sealedChunk)
        padded = sealed - count * Int64(AESGCM.tagSize)
        guard padded >= Int64(Self.chunk), Self.padme(padded) == padded, self.file == file else { return nil }
    }

    package var chunks: Int64 { (padded + Int64(Self.chunk) - 1) / Int64(Self.chunk) }

    package var file: Int64 { Int64(Self.header) + padded + chunks * Int64(AESGCM.tagSize) }

    /// Bytes of plaintext in a chunk: 65,536, or the remainder for the last one.
    package func length(ofChunk index: Int64) -> Int {
        index == chunks - 1 ? Int(padded - index * Int64(Self.chunk)) : Self.chunk
    }

    /// The offset of a chunk in the file.
    package static func offset(ofChunk index: Int64) -> Int64 { Int64(header) + index * Int64(sealedChunk) }

    /// Rounds up by at most 12 %, so that only O(log log length) bits of the length show (Padmé, Nikitin et al. 2019).
    package static func padme(_ length: Int64) -> Int64 {
        guard length > 1 else { return length }
        let exponent = Int64.bitWidth - 1 - length.leadingZeroBitCount
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask: Int64 = (1 << Int64(exponent - significant)) - 1
        return (length + mask) & ~mask
    }
}
