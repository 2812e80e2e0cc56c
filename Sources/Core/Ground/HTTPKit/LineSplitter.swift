/// Splits bytes that arrive in pieces into lines ended by LF, CR or CRLF, and decodes each once it is complete, so that
/// no character is split. Drops a leading byte order mark.
package struct LineSplitter: Sendable {
    /// A line longer than `limit` bytes.
    package struct TooLong: Error {
        package let limit: Int
    }

    private var line: [UInt8] = []
    private var endedByReturn = false
    private var atStart = true
    private let limit: Int

    /// `limit`: bytes of one line.
    package init(limit: Int = 4 << 20) { self.limit = limit }

    /// The lines completed by `bytes`, without line ends; invalid UTF-8 becomes U+FFFD. Throws ``TooLong``.
    package mutating func feed(_ bytes: some Sequence<UInt8>) throws -> [String] {
        var lines: [String] = []
        try feed(bytes, into: &lines)
        return lines
    }

    /// The same, appended to `lines`. If a line is too long, those before it are appended before this throws.
    package mutating func feed(_ bytes: some Sequence<UInt8>, into lines: inout [String]) throws {
        for byte in bytes {
            let followsReturn = endedByReturn
            endedByReturn = false
            switch byte {
            case 0x0A:
                // The second half of a CRLF, whose line was returned at the CR.
                if !followsReturn { lines.append(flush()) }
            case 0x0D:
                lines.append(flush())
                endedByReturn = true
            default:
                guard line.count < limit else { throw TooLong(limit: limit) }
                line.append(byte)
            }
        }
    }

    /// The text after the last line end, if any.
    package mutating func finish() -> String? { line.isEmpty ? nil : flush() }

    private mutating func flush() -> String {
        defer { line.removeAll(keepingCapacity: true) }
        var bytes = line[...]
        if atStart {
            atStart = false
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
