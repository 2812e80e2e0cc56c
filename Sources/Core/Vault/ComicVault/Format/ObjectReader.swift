import Platform
import Synchronization

/// Random-access reader of an object. Opening it verifies its header, its first and its last chunk, and with them its
/// size; a read verifies the chunks it needs. No byte is returned before its tag has verified. Calls block;
/// thread-safe.
package final class ObjectReader: Sendable {
    package let header: ObjectHeader
    package let kind: ObjectKind
    /// Of the content, in bytes.
    package let length: Int64
    /// 16 bytes.
    package let lastTag: [UInt8]
    package let size: ObjectSize
    private let file: Descriptor
    private let contentKey: SecretBytes
    private let access: Mutex<ChunkAccess>

    package var id: ObjectID { header.id }
    /// 32 bytes.
    package var headerMAC: [UInt8] { header.tag }

    package var reference: ObjectReference {
        ObjectReference(id: id, kind: kind, length: UInt64(length), headerMAC: headerMAC, lastTag: lastTag)
    }

    /// - Parameters:
    ///   - id: the file's name, which the header must repeat.
    ///   - kind: the expected kind.
    /// - Throws: ``VaultError``.
    package init(_ file: Descriptor, _ id: ObjectID, _ kind: ObjectKind, with key: OpeningKey) throws {
        do {
            let actual = try file.status().size
            guard let size = ObjectSize(file: actual) else {
                throw VaultError.truncatedObject(file.path, size: actual, expected: nil)
            }
            let header = try ObjectHeader(of: file)
            guard header.id == id else { throw VaultError.damagedObject(file.path, .name(found: header.id)) }
            let dataKey = try key.dataKey(header, at: file.path)
            let contentKey = try ObjectSecrets.contentKey(dataKey, header.nonce)
            let access = try ChunkAccess(file, header, contentKey: contentKey, size: size)
            let (found, length) = try access.ends(kind)
            self.header = header
            self.kind = found
            self.length = length
            self.lastTag = access.lastTag
            self.size = size
            self.file = file
            self.contentKey = contentKey
            self.access = Mutex(access)
        } catch {
            throw Self.readable(error)
        }
    }

    /// Reads `count` bytes of the content from `offset`; fewer only at its end.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        guard offset >= 0, count > 0, offset < length else { return [] }
        let wanted = Int(min(Int64(count), length - offset))
        return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
    }

    /// Fills `buffer` from `offset` in the content; fewer bytes only at its end.
    ///
    /// - Returns: the number of bytes read.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard offset >= 0, offset < length, !buffer.isEmpty else { return 0 }
        let wanted = Int(min(Int64(buffer.count), length - offset))
        // An address instead of the buffer: the compiler cannot see that the locked state does not keep it.
        let address = UInt(bitPattern: buffer.baseAddress)
        do {
            try access.withLock { access in
                try access.read(
                    from: offset + Int64(ObjectSize.preamble),
                    into: UnsafeMutableRawBufferPointer(start: .init(bitPattern: address), count: wanted),
                    content: length, kind)
            }
            return wanted
        } catch {
            throw Self.readable(error)
        }
    }

    /// Passes the whole content to `sink` in parts of at most 64 KiB, valid during the call only, and checks every byte
    /// of the file. Parts passed before an error are genuine, but incomplete.
    ///
    /// - Throws: ``VaultError``, or an error from `sink`.
    package func stream(_ sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        var isOfSink = false
        do {
            try ObjectStream(file, header, contentKey: contentKey, size: size).run(kind, length: length) { part in
                isOfSink = true
                try sink(part)
                isOfSink = false
            }
        } catch {
            throw isOfSink ? error : Self.readable(error)
        }
    }

    /// Checks every byte of the file.
    ///
    /// - Returns: SHA-256 of the content.
    package func verify() throws -> ContentHash {
        let hash = BodyHash()
        try stream { hash.update($0) }
        return hash.finish()
    }

    private static func readable(_ error: any Error) -> any Error {
        error is Fault ? VaultError.decryptionFailed(underlying: error) : error
    }
}

/// Single chunks of an object; the last one read is cached.
private final class ChunkAccess {
    private static let batch = 4

    private let file: Descriptor
    private let size: ObjectSize
    private let cipher: ChunkCipher
    private let sealed: AlignedBuffer
    private let plain: AlignedBuffer
    private var kept: Int64?
    private(set) var lastTag: [UInt8] = []

    init(_ file: Descriptor, _ header: ObjectHeader, contentKey: SecretBytes, size: ObjectSize) throws {
        self.file = file
        self.size = size
        cipher = try ChunkCipher(.open, header, contentKey: contentKey, size: size)
        sealed = try AlignedBuffer(Int(min(Int64(Self.batch), size.chunks)) * ObjectSize.sealedChunk)
        plain = try AlignedBuffer(ObjectSize.chunk)
    }

    /// Verifies the first and the last chunk, and the length against the file's size.
    func ends(_ kind: ObjectKind) throws -> (ObjectKind, Int64) {
        let (found, length) = try ObjectPlaintext.preamble(try chunk(0), at: file.path)
        // The first chunk is genuine, so a wrong size is the file's fault, not the sealer's.
        guard let right = ObjectSize(content: length) else {
            throw VaultError.damagedObject(file.path, .content("length"))
        }
        guard right == size else {
            throw VaultError.truncatedObject(file.path, size: size.file, expected: right.file)
        }
        _ = try ObjectPlaintext.check(try chunk(0), 0, kind, length: length, at: file.path)
        let last = size.chunks - 1
        _ = try ObjectPlaintext.check(try chunk(last), last, kind, length: length, at: file.path)
        lastTag = try file.read(at: size.file - Int64(AESGCM.tagSize), count: AESGCM.tagSize)
        return (found, length)
    }

    /// - Parameter start: in the plaintext.
    func read(
        from start: Int64, into target: UnsafeMutableRawBufferPointer, content: Int64, _ kind: ObjectKind
    ) throws {
        let chunk = Int64(ObjectSize.chunk)
        var place = start
        var done = 0
        while done < target.count {
            let index = place / chunk
            let skip = Int(place % chunk)
            let whole = skip == 0 && target.count - done >= size.length(ofChunk: index)
            let part: Int
            if whole {
                let count = min(Int64(Self.batch), Int64(target.count - done) / chunk)
                part = try openWhole(index, max(1, count), into: target[done...])
            } else {
                let bytes = try self.chunk(index)
                part = min(bytes.count - skip, target.count - done)
                _ = try ObjectPlaintext.check(bytes, index, kind, length: content, at: file.path)
                UnsafeMutableRawBufferPointer(rebasing: target[done...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[skip...].prefix(part)))
            }
            done += part
            place += Int64(part)
        }
    }

    /// Opens chunks straight into the destination, which has room for them.
    private func openWhole(
        _ first: Int64, _ count: Int64, into target: Slice<UnsafeMutableRawBufferPointer>
    ) throws -> Int {
        let lengths = (first..<(first + count)).reduce(0) { $0 + size.length(ofChunk: $1) }
        let bytes = try load(first, lengths + Int(count) * AESGCM.tagSize)
        var done = 0
        for index in first..<(first + count) {
            let length = size.length(ofChunk: index)
            let from = Int(index - first) * ObjectSize.sealedChunk
            let part = UnsafeRawBufferPointer(rebasing: bytes[from...].prefix(length + AESGCM.tagSize))
            guard try cipher.open(index, part, into: UnsafeMutableRawBufferPointer(rebasing: target.dropFirst(done)))
            else { throw VaultError.damagedObject(file.path, .chunk(index, of: size.chunks)) }
            done += length
        }
        return done
    }

    /// One chunk's plaintext, valid until the next call.
    private func chunk(_ index: Int64) throws -> UnsafeRawBufferPointer {
        let length = size.length(ofChunk: index)
        if kept != index {
            kept = nil
            guard try cipher.open(index, load(index, length + AESGCM.tagSize), into: plain.part(0, length)) else {
                throw VaultError.damagedObject(file.path, .chunk(index, of: size.chunks))
            }
            kept = index
        }
        return UnsafeRawBufferPointer(plain.part(0, length))
    }

    private func load(_ first: Int64, _ count: Int) throws -> UnsafeRawBufferPointer {
        let target = sealed.part(0, count)
        guard try file.read(into: target, at: ObjectSize.offset(ofChunk: first)) == count else {
            throw VaultError.truncatedObject(file.path, size: try file.status().size, expected: size.file)
        }
        return UnsafeRawBufferPointer(target)
    }
}
