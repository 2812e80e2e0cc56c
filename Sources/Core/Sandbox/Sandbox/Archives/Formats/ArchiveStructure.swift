import Platform

/// A container's own headers, as far as they say more than libarchive reports.
package struct ArchiveStructure: Sendable, Equatable {
    package struct Traits: OptionSet, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let solid = Traits(rawValue: 1)
        package static let multiVolume = Traits(rawValue: 2)
        package static let encrypted = Traits(rawValue: 4)
        package static let encryptedHeaders = Traits(rawValue: 8)
        /// Entries of a ZIP share bytes, or claim more than the file has.
        package static let overlap = Traits(rawValue: 16)
        /// More headers than an archive may have; the rest was not read.
        package static let tooManyHeaders = Traits(rawValue: 32)
    }

    /// The complaint about an archive without an end mark.
    package static let noEnd = "there is no mark at its end, so that nobody can tell whether more belongs to it"

    package var format: ArchiveFormat
    package var traits: Traits

    package init(format: ArchiveFormat, traits: Traits) { (self.format, self.traits) = (format, traits) }
}

/// Reads numbers from the front of some bytes; nil past their end.
package struct ByteCursor {
    private let bytes: [UInt8]
    package private(set) var position: Int

    package init(_ bytes: [UInt8], at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    package mutating func number(_ count: Int) -> UInt64? {
        guard position >= 0, position + count <= bytes.count else { return nil }
        defer { position += count }
        return (0..<count).reduce(0) { $0 | UInt64(bytes[position + $1]) << UInt64(8 * $1) }
    }

    package mutating func bytes(_ count: Int) -> [UInt8]? {
        guard position >= 0, count >= 0, position + count <= bytes.count else { return nil }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    /// RAR5's variable-length number: seven bits per byte, lowest first.
    package mutating func variable() -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<10 {
            guard let byte = number(1) else { return nil }
            value |= (byte & 0x7F) << UInt64(min(63, 7 * index))
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    package mutating func skip(_ count: UInt64) -> Bool {
        guard position <= bytes.count, count <= UInt64(bytes.count - position) else { return false }
        position += Int(count)
        return true
    }

    package var isAtEnd: Bool { position >= bytes.count }
}
