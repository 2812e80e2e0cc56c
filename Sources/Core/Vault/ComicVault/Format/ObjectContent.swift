import Platform

/// What is to be sealed: some bytes in memory, then a body that is read once, from its start to its end.
package struct ObjectContent {
    /// Fills the buffer from an offset in the body on; fewer bytes only at its end. Called with offsets that follow one
    /// another.
    package typealias Read = (_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int

    /// Where it comes from, for messages.
    let path: BytePath
    let prefix: [UInt8]
    /// Of the body, in bytes.
    let length: Int64
    /// SHA-256 of the body, where a validating pass has taken it; of the prefix where there is nothing else.
    let hash: ContentHash?
    /// What makes the object's secrets those of this content.
    let identity: ContentHash
    let read: Read

    /// The bytes of an open file, as they were when they were validated.
    ///
    /// - Parameters:
    ///   - hash: what the validating pass took; content that has another by now is not sealed.
    ///   - prefix: a deposit's envelope.
    package init(_ file: Descriptor, hash: ContentHash, prefix: [UInt8] = []) throws {
        self.init(
            path: file.path, prefix: prefix, length: try file.status().size, hash: hash,
            identity: prefix.isEmpty ? hash : ContentHash(of: prefix + hash.bytes)
        ) { try file.read(into: $0, at: $1) }
    }

    /// Bytes that are in memory.
    package init(_ bytes: [UInt8]) {
        let hash = ContentHash(of: bytes)
        self.init(path: "the content", prefix: bytes, length: 0, hash: hash, identity: hash) { _, _ in 0 }
    }

    /// What is made while it is sealed (pages from the worker), so that no hash of it exists yet.
    ///
    /// - Parameters:
    ///   - path: where it comes from, for messages.
    ///   - length: bytes; a stream that ends earlier or goes on is refused.
    ///   - identity: a hash that no other content has, such as that of the archive and what is made of it.
    ///   - hash: of the content, where it is claimed to be known: content that has another is not sealed.
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

    /// The same, of which no more is read once a session has ended.
    func until(_ end: SessionEnd) -> ObjectContent {
        ObjectContent(path: path, prefix: prefix, length: length, hash: hash, identity: identity) { buffer, offset in
            try end.check()
            return try read(buffer, offset)
        }
    }

    /// Of prefix and body.
    var total: Int64 { Int64(prefix.count) + length }
}
