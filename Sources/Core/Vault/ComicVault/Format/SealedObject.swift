import Glibc
import Platform

/// An object that has been written and synced, still under a temporary name, with its key in memory.
package struct SealedObject: Sendable {
    package let kind: ObjectKind
    /// Of the content, in bytes.
    package let length: Int64
    /// SHA-256 of the content; for a deposit, of the archive after the envelope.
    package let hash: ContentHash
    package let header: ObjectHeader
    /// 16 bytes.
    package let lastTag: [UInt8]
    package let size: ObjectSize
    /// Stays open as long as this value lives, and so does the lock that the caller may have taken on it.
    package let file: Descriptor
    let prefix: [UInt8]
    let contentKey: SecretBytes
    let source: BytePath

    package var id: ObjectID { header.id }
    /// 32 bytes.
    package var headerMAC: [UInt8] { header.tag }

    package var reference: ObjectReference {
        ObjectReference(id: id, kind: kind, length: UInt64(length), headerMAC: headerMAC, lastTag: lastTag)
    }

    /// Reads the file back through a new descriptor, bypassing the page cache where possible, and compares header, tags
    /// and hash. This proves that the kernel reads it back, not that the medium behind a drive's cache holds it.
    /// Blocks.
    ///
    /// - Throws: ``VaultError/contentChanged(_:)`` if the sealed bytes are not the validated ones;
    ///   ``VaultError/encryptionFailed(underlying:)`` for anything else. Unlink the file.
    package func verify() throws {
        do {
            try readBack()
        } catch VaultError.contentChanged(let path) {
            throw VaultError.contentChanged(path)
        } catch {
            throw VaultError.encryptionFailed(underlying: error)
        }
    }

    private func readBack() throws {
        let again = try Self.reopen(file)
        guard try again.status().size == size.file else {
            throw VaultError.truncatedObject(file.path, size: try again.status().size, expected: size.file)
        }
        let body = BodyHash()
        var expected = prefix[...]
        try ObjectStream(again, header, contentKey: contentKey, size: size, isDirect: true).run(kind, length: length) {
            part in
            let known = min(part.count, expected.count)
            guard expected.prefix(known).elementsEqual(part.prefix(known)) else {
                throw VaultError.damagedObject(file.path, .content("envelope"))
            }
            expected = expected.dropFirst(known)
            body.update(UnsafeRawBufferPointer(rebasing: part.dropFirst(known)))
        }
        guard isMemory || body.finish() == hash else { throw VaultError.contentChanged(source) }
    }

    /// Content from memory is compared byte by byte instead.
    private var isMemory: Bool { length == Int64(prefix.count) }

    /// Reopens the same inode, even if it was renamed. Some file systems refuse O_DIRECT.
    private static func reopen(_ file: Descriptor) throws -> Descriptor {
        posix_fadvise(file.raw, 0, 0, POSIX_FADV_DONTNEED)
        let path = BytePath("/proc/self/fd/\(file.raw)")
        for flags in [O_RDONLY | openDirect, O_RDONLY] {
            let raw = path.withCString { open($0, flags | O_CLOEXEC) }
            if raw >= 0 { return Descriptor(owning: raw, path: file.path) }
            guard flags != O_RDONLY, errno == EINVAL || errno == EOPNOTSUPP else { break }
        }
        throw Fault.system("read back", file.path)
    }
}

/// O_DIRECT, which Glibc shows only to GNU sources.
#if arch(arm64)
    let openDirect: Int32 = 0o200_000
#else
    let openDirect: Int32 = 0o40_000
#endif
