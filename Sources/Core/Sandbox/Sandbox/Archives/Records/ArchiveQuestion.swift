/// How a worker requests an archive's bytes over a stream socket. The agent first sends their number (eight bytes,
/// little-endian); the worker then sends an offset and a count (eight and four bytes), and gets exactly that many
/// bytes.
package enum ArchiveQuestion {
    package static let length = 12
    package static let sizeLength = 8
    /// The most bytes of one response.
    package static let mostBytes = 131_072

    package static func encoded(_ offset: Int64, _ count: Int) -> [UInt8] {
        bytes(UInt64(offset), 8) + bytes(UInt64(count), 4)
    }

    package static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}
