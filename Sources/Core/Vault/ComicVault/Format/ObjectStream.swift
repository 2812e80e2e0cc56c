import Glibc
import Platform

/// Reads an object sequentially: each chunk is verified before any of it is passed on, and everything that the format
/// fixes is checked. Constant memory; only aligned reads, as O_DIRECT requires.
struct ObjectStream {
    /// Room for the rest of a window when the next one is read; a multiple of a page.
    private static let carry = 128 << 10

    private let file: Descriptor
    private let header: ObjectHeader
    private let size: ObjectSize
    private let cipher: ChunkCipher
    /// Bytes of one read.
    private let window: Int

    /// - Parameter isDirect: whether reads bypass the page cache; such reads must be large to be fast, while cached
    ///   reads are faster if they fit into the processor's cache.
    init(
        _ file: Descriptor, _ header: ObjectHeader, contentKey: SecretBytes, size: ObjectSize, isDirect: Bool = false
    ) throws {
        self.file = file
        window = isDirect ? 1 << 20 : 128 << 10
        self.header = header
        self.size = size
        cipher = try ChunkCipher(.open, header, contentKey: contentKey, size: size)
    }

    /// Passes the content on in parts of at most 64 KiB, valid during the call only.
    ///
    /// - Parameter length: of the content; an object of another length is damaged.
    func run(_ kind: ObjectKind, length: Int64, _ sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = try AlignedBuffer(Self.carry + self.window)
        var window = Window(start: Self.carry, end: Self.carry, offset: 0)
        let head = try nextBytes(ObjectSize.header, buffer, &window)
        guard head.elementsEqual(header.bytes) else { throw VaultError.damagedObject(file.path, .headerTag) }
        for index in 0..<size.chunks {
            let count = size.length(ofChunk: index)
            let sealed = try nextBytes(count + AESGCM.tagSize, buffer, &window)
            guard try cipher.open(index, UnsafeRawBufferPointer(sealed), into: sealed) else {
                throw VaultError.damagedObject(file.path, .chunk(index, of: size.chunks))
            }
            let plain = UnsafeRawBufferPointer(rebasing: sealed.prefix(count))
            let range = try ObjectPlaintext.check(plain, index, kind, length: length, at: file.path)
            if !range.isEmpty { try sink(UnsafeRawBufferPointer(rebasing: plain[range])) }
        }
    }

    private struct Window {
        /// The range of the buffer that is read but not yet passed on.
        var start: Int
        var end: Int
        /// Of the next read, in the file.
        var offset: Int64
    }

    /// The next `count` bytes of the file, in the buffer until the next call.
    private func nextBytes(
        _ count: Int, _ buffer: AlignedBuffer, _ window: inout Window
    ) throws -> UnsafeMutableRawBufferPointer {
        if window.end - window.start < count {
            let left = window.end - window.start
            // May overlap, which copyMemory allows.
            buffer.part(Self.carry - left, left).copyMemory(
                from: UnsafeRawBufferPointer(buffer.part(window.start, left)))
            let got = try file.read(into: buffer.part(Self.carry, self.window), at: window.offset)
            window = Window(start: Self.carry - left, end: Self.carry + got, offset: window.offset + Int64(got))
            guard left + got >= count else {
                throw VaultError.truncatedObject(file.path, size: window.offset, expected: size.file)
            }
        }
        defer { window.start += count }
        return buffer.part(window.start, count)
    }
}

/// The parts of an object's plaintext other than its content.
enum ObjectPlaintext {
    /// Checks a chunk's preamble and padding.
    ///
    /// - Returns: the range of the content within the chunk.
    static func check(
        _ plain: UnsafeRawBufferPointer, _ index: Int64, _ kind: ObjectKind, length: Int64, at path: BytePath
    ) throws -> Range<Int> {
        if index == 0 {
            let (found, said) = try preamble(plain, at: path)
            guard found == kind else {
                throw VaultError.damagedObject(path, .content("it holds \(found), not \(kind)"))
            }
            guard said == length else { throw VaultError.damagedObject(path, .content("length")) }
        }
        let start = index * Int64(ObjectSize.chunk)
        let end = Int64(ObjectSize.preamble) + length
        let from = index == 0 ? ObjectSize.preamble : 0
        let to = Int(min(Int64(plain.count), max(Int64(from), end - start)))
        guard UnsafeRawBufferPointer(rebasing: plain[to...]).isZero else {
            throw VaultError.damagedObject(path, .content("padding"))
        }
        return from..<to
    }

    /// Kind and length, from the first chunk.
    static func preamble(
        _ plain: UnsafeRawBufferPointer, at path: BytePath
    ) throws -> (kind: ObjectKind, length: Int64) {
        var reader = ByteReader(Array(plain.prefix(ObjectSize.preamble)))
        guard let kind = reader.integer(UInt8.self).flatMap(ObjectKind.init), reader.zeros(7) else {
            throw VaultError.damagedObject(path, .content("kind"))
        }
        guard let length = reader.integer(UInt64.self).flatMap(Int64.init(exactly:)) else {
            throw VaultError.damagedObject(path, .content("length"))
        }
        return (kind, length)
    }
}
