/// A ZIP archive whose files are stored as they are: enough for a document of a few kilobytes, and the same bytes for
/// the same files.
struct StoredZip {
    private var body: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    /// - Parameter name: ASCII.
    mutating func add(_ name: String, _ bytes: [UInt8]) {
        let sum = Self.crc32(bytes)
        let offset = body.count
        /// From "version needed" to the length of the extra field: equal in both places. Day zero of DOS, 1980-01-01.
        var fields =
            Self.little(20, 2) + Self.little(0, 2) + Self.little(0, 2) + Self.little(0, 2) + Self.little(0x21, 2)
        fields += Self.little(Int(sum), 4) + Self.little(bytes.count, 4) + Self.little(bytes.count, 4)
        fields += Self.little(name.utf8.count, 2) + Self.little(0, 2)
        body += [0x50, 0x4B, 3, 4] + fields + Array(name.utf8) + bytes
        directory += [0x50, 0x4B, 1, 2] + Self.little(20, 2) + fields + Self.little(0, 2) + Self.little(0, 2)
        directory += Self.little(0, 2) + Self.little(0, 4) + Self.little(offset, 4) + Array(name.utf8)
        count += 1
    }

    func finished() -> [UInt8] {
        var end: [UInt8] = [0x50, 0x4B, 5, 6] + Self.little(0, 2) + Self.little(0, 2)
        end += Self.little(count, 2) + Self.little(count, 2)
        end += Self.little(directory.count, 4) + Self.little(body.count, 4) + Self.little(0, 2)
        return body + directory + end
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
    }

    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { sum, byte in table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8) }
    }
}
