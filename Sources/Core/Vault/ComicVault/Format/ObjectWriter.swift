import Glibc
import Platform

/// Writes objects of any length in a quarter of a megabyte of memory, in one pass. An object is never resumed, appended
/// to or rewritten: after an error, unlink the file and start over with another name, nonce and key.
package enum ObjectWriter {
    /// Chunks per write. More do not fit into the processor's cache, which doubled the time.
    private static let batch = 2

    /// Seals into `file` and syncs it. The file counts as an object only after ``SealedObject/verify()`` has read it
    /// back. Blocks.
    ///
    /// - Parameter file: new and empty, open for reading and writing; it gets mode 0400 and a constant timestamp.
    /// - Throws: ``VaultError``. An error of fsync(2) is final as well.
    package static func seal(
        _ kind: ObjectKind, _ content: ObjectContent, for target: SealTarget, into file: Descriptor
    ) throws -> SealedObject {
        try seal(kind, content, into: file) {
            try .fresh(kind, content: content.identity, for: target, at: file.path)
        }
    }

    /// - Parameter secrets: the object's own; the keys that wrap them are not needed any more.
    static func seal(
        _ kind: ObjectKind, _ content: ObjectContent, into file: Descriptor, _ secrets: () throws -> ObjectSecrets
    ) throws -> SealedObject {
        do {
            return try seal(kind, content, secrets(), into: file)
        } catch let error as VaultError {
            throw error
        } catch {
            throw VaultError.encryptionFailed(underlying: error)
        }
    }

    static func seal(
        _ kind: ObjectKind, _ content: ObjectContent, _ secrets: ObjectSecrets, into file: Descriptor
    ) throws -> SealedObject {
        guard let size = ObjectSize(content: content.total), try file.status().size == 0 else {
            throw Fault(.refused, "\(content.path) is longer than an object can be", path: content.path)
        }
        let header = secrets.header
        let contentKey = try ObjectSecrets.contentKey(secrets.dataKey, header.nonce)
        let cipher = try ChunkCipher(.seal, header, contentKey: contentKey, size: size)
        let source = PlaintextSource(kind, content, size)
        let plain = try AlignedBuffer(batch * ObjectSize.chunk)
        let sealed = try AlignedBuffer(batch * ObjectSize.sealedChunk)

        try header.bytes.withUnsafeBytes { try file.write($0, at: 0) }
        var lastTag: [UInt8] = []
        for first in stride(from: Int64(0), to: size.chunks, by: batch) {
            let count = Int(min(Int64(batch), size.chunks - first))
            let length = Int(min(Int64(count * ObjectSize.chunk), size.padded - first * Int64(ObjectSize.chunk)))
            try source.fill(plain.part(0, length))
            for index in 0..<count {
                let part = size.length(ofChunk: first + Int64(index))
                try cipher.seal(
                    first + Int64(index), UnsafeRawBufferPointer(plain.part(index * ObjectSize.chunk, part)),
                    into: sealed.part(index * ObjectSize.sealedChunk, part + AESGCM.tagSize))
            }
            let all = UnsafeRawBufferPointer(sealed.part(0, length + count * AESGCM.tagSize))
            try file.write(all, at: ObjectSize.offset(ofChunk: first))
            lastTag = Array(all.suffix(AESGCM.tagSize))
        }
        try source.finish()
        try finalize(file)
        return SealedObject(
            kind: kind, length: content.total, hash: source.hash, header: header, lastTag: lastTag, size: size,
            file: file, prefix: content.prefix, contentKey: contentKey, source: content.path)
    }

    /// Sets a read-only mode against accidents and a timestamp that reveals nothing, then syncs.
    private static func finalize(_ file: Descriptor) throws {
        guard fchmod(file.raw, 0o400) == 0 else { throw Fault.system("change the mode of", file.path) }
        let constant = timespec(tv_sec: 946_684_800, tv_nsec: 0)
        guard futimens(file.raw, [constant, constant]) == 0 else { throw Fault.system("set the time of", file.path) }
        try file.sync()
    }
}

/// The plaintext of an object in order: preamble, prefix, body, zeros.
private final class PlaintextSource {
    private let content: ObjectContent
    private let head: [UInt8]
    private let end: Int64
    private var offset: Int64 = 0
    /// Hashes the body only if its hash is not known yet.
    private var hasher: BodyHash?
    private(set) var hash: ContentHash

    init(_ kind: ObjectKind, _ content: ObjectContent, _ size: ObjectSize) {
        self.content = content
        head = [kind.rawValue, 0, 0, 0, 0, 0, 0, 0] + UInt64(content.total).bigEndianBytes + content.prefix
        end = Int64(head.count) + content.length
        hasher = content.hash == nil ? BodyHash() : nil
        hash = content.hash ?? content.identity
    }

    func fill(_ target: UnsafeMutableRawBufferPointer) throws {
        var rest = target[...]
        if offset < head.count {
            let part = min(head.count - Int(offset), rest.count)
            head[Int(offset)...].prefix(part).withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: rest.prefix(part)).copyMemory(from: $0)
            }
            rest = rest.dropFirst(part)
            offset += Int64(part)
        }
        let wanted = Int(min(Int64(rest.count), max(0, end - offset)))
        if wanted > 0 {
            let part = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(wanted))
            guard try content.read(part, offset - Int64(head.count)) == wanted else {
                throw VaultError.contentChanged(content.path)
            }
            hasher?.update(UnsafeRawBufferPointer(part))
            rest = rest.dropFirst(wanted)
            offset += Int64(wanted)
        }
        _ = UnsafeMutableRawBufferPointer(rebasing: rest).initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// - Throws: ``VaultError/contentChanged(_:)`` if the body is longer than expected.
    func finish() throws {
        var further: UInt8 = 0
        let got = try withUnsafeMutableBytes(of: &further) { try content.read($0, content.length) }
        guard got == 0, offset == end else { throw VaultError.contentChanged(content.path) }
        if let hasher { hash = hasher.finish() }
    }
}

/// A SHA-256 that fits in an optional.
final class BodyHash {
    private var hasher = StreamingHash()

    func update(_ bytes: UnsafeRawBufferPointer) { hasher.update(bytes) }

    func finish() -> ContentHash { hasher.finish() }
}
