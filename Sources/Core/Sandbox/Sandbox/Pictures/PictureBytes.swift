/// A picture's bytes, read on demand.
package struct PictureBytes {
    let size: Int64
    private let head: [UInt8]
    private let read: ((Int64, Int) throws -> [UInt8])?

    /// - Parameter read: reads at an offset, also beyond `head`; nil if no more can be read.
    package init(head: [UInt8], size: Int64, read: ((Int64, Int) throws -> [UInt8])?) {
        self.head = head
        self.size = size
        self.read = read
    }

    /// - Returns: exactly that many bytes; nil if some are missing.
    func bytes(at offset: Int, count: Int) throws -> [UInt8]? {
        guard offset >= 0, count >= 0, Int64(offset) <= size - Int64(count) else { return nil }
        if offset + count <= head.count { return Array(head[offset..<(offset + count)]) }
        let found = try read?(Int64(offset), count)
        return found?.count == count ? found : nil
    }

    /// A big-endian number; nil if it is missing, or greater than any file offset.
    func number(at offset: Int, width: Int) throws -> Int? {
        guard let part = try bytes(at: offset, count: width) else { return nil }
        let value = part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value < 1 << 48 ? Int(value) : nil
    }
}
