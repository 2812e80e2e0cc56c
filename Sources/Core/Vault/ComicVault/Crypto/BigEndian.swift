import Platform

extension FixedWidthInteger {
    /// The most significant byte first.
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

/// Reads fields in order and never past the end.
package struct ByteReader {
    package let bytes: [UInt8]
    package private(set) var offset = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var remaining: Int { bytes.count - offset }
    package var isAtEnd: Bool { remaining == 0 }

    /// - Returns: nil, with nothing consumed, if fewer bytes are left.
    package mutating func read(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= remaining else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    package mutating func integer<I: FixedWidthInteger>(_: I.Type = I.self) -> I? {
        guard let read = read(MemoryLayout<I>.size) else { return nil }
        return read.reduce(I.zero) { $0 << 8 | I(truncatingIfNeeded: $1) }
    }

    /// Consumes `count` bytes.
    ///
    /// - Returns: whether they were there and all zero.
    package mutating func zeros(_ count: Int) -> Bool { read(count)?.allSatisfy { $0 == 0 } ?? false }

    /// Consumes the rest.
    package mutating func rest() -> [UInt8] { read(remaining) ?? [] }
}
