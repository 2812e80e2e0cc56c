import Platform

/// The plaintext of an object to be sealed: some bytes in memory, then a body that is read once, sequentially.
package struct ObjectContent {
    /// Fills the buffer from an offset in the body; returns fewer bytes only at its end. Offsets are sequential.
    package typealias Read = (_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int

    /// The source, for messages.
    let path: BytePath
    let prefix: [UInt8]
    /// Of the body, in bytes.
    let length: Int64
    /// SHA-256 of the body, if a validating pass has computed it; of the prefix if there is no body.
    let hash: ContentHash?
    /// Binds the object's secrets to this content.
    let identity: ContentHash
    let read: Read

    /// The bytes of an open file, as they were when they were validated.
    ///
    /// - Parameters:
    ///   - hash: from the validating pass; content that has changed since then is not sealed.
    ///   - prefix: a deposit's envelope.
    package init(_ file: Descriptor, hash: ContentHash, prefix: [UInt8] = []) throws {
        self.init(
            path: file.path, prefix: prefix, length: try file.status().size, hash: hash,
            identity: prefix.isEmpty ? hash : ContentHash(of: prefix + hash.bytes)
        ) { try file.read(into: $0, at: $1) }
    }

    /// Bytes in memory.
    package init(_ bytes: [UInt8]) {
        let hash = ContentHash(of: bytes)
        self.init(path: "the content", prefix: bytes, length: 0, hash: hash, identity: hash) { _, _ in 0 }
    }

    /// Content produced while it is sealed (pages from the worker), so that no hash of it exists yet.
    ///
    /// - Parameters:
    ///   - path: the source, for messages.
    ///   - length: in bytes; a stream that is shorter or longer is refused.
    ///   - identity: a hash that no other content has, such as one of the archive and the kind of derived data.
    ///   - hash: of the content, if it is claimed to be known: content with another hash is not sealed.
    package init(
        streamOf path: BytePath, length: Int64, identity: ContentHash, hash: ContentHash? = nil, read: @escaping Read
    ) {
        self.init(path: path, prefix: [], length: length, hash: hash, identity: identity, read: read)
    }

    private init(
        path: BytePath, prefix: [UInt8], length: Int64, hash: ContentHash?, identity: ContentHash,
        read: @escaping Read
    ) {
        self.path = path
        self.prefix = prefix
        self.length = length
        self.hash = hash
        self.identity = identity
        self.read = read
    }

    /// The same content, but reading stops once a session has ended.
    func until(_ end: SessionEnd) -> ObjectContent {
        ObjectContent(path: path, prefix: prefix, length: length, hash: hash, identity: identity) { buffer, offset in
            try end.check()
            return try read(buffer, offset)
        }
    }

    /// Of prefix and body.
    var total: Int64 { Int64(prefix.count) + length }
}
