import Platform

/// How the key of an object is wrapped.
package enum ObjectWrap: UInt8, Sendable {
    /// With a key derived from the master key.
    case masterKey = 1
    /// To the vault's public key (HPKE).
    case publicKey = 2
}

/// The first 256 bytes of an object.
package struct ObjectHeader: Hashable, Sendable {
    package static let magic = Array("IVO1OBJ\n".utf8)
    package static let format: UInt8 = 1
    private static let chunkExponent: UInt8 = 16
    /// Ciphertext and tag of the 32-byte key.
    static let wrappedKeySize = 48
    /// The size of the bytes that the wrap authenticates, and of those that the header's tag covers.
    private static let boundSize = 96
    private static let taggedSize = 144
    private static let digestedSize = 176

    package let bytes: [UInt8]
    package let wrap: ObjectWrap
    package let vault: VaultID
    package let id: ObjectID

    package var nonce: [UInt8] { Array(bytes[48..<60]) }
    /// HPKE's encapsulated key; zeros with ``ObjectWrap/masterKey``.
    package var encapsulatedKey: [UInt8] { Array(bytes[64..<96]) }
    package var wrappedKey: [UInt8] { Array(bytes[Self.boundSize..<Self.taggedSize]) }
    /// 32 bytes: `headerMAC` in the format.
    package var tag: [UInt8] { Array(bytes[Self.taggedSize..<Self.digestedSize]) }

    /// The digest of the header that every chunk authenticates.
    var digest: [UInt8] { ContentHash(of: bytes[..<Self.digestedSize]).bytes }

    /// The bytes that the wrap authenticates: those before the wrapped key.
    static func bound(
        wrap: ObjectWrap, vault: VaultID, id: ObjectID, nonce: [UInt8], encapsulatedKey: [UInt8]
    ) -> [UInt8] {
        magic + [format, 0, wrap.rawValue, chunkExponent, 0, 0, 0, 0] + vault.bytes + id.bytes + nonce + [0, 0, 0, 0]
            + encapsulatedKey
    }

    var bound: [UInt8] { Array(bytes[..<Self.boundSize]) }

    static func tag(_ dataKey: SecretBytes, _ tagged: [UInt8]) throws -> [UInt8] {
        try HMACSHA256.tag(HKDF.derive(dataKey, info: Array("header".utf8)), tagged)
    }

    /// Whether the tag matches the object's key.
    func verifies(_ dataKey: SecretBytes) throws -> Bool {
        constantTimeEqual(try Self.tag(dataKey, Array(bytes[..<Self.taggedSize])), tag)
    }

    /// Assembles a header.
    ///
    /// - Parameter bound: from ``bound(wrap:vault:id:nonce:encapsulatedKey:)``.
    init(bound: [UInt8], wrappedKey: [UInt8], dataKey: SecretBytes, at path: BytePath) throws {
        let tag = try Self.tag(dataKey, bound + wrappedKey)
        let padding = [UInt8](repeating: 0, count: ObjectSize.header - Self.digestedSize)
        try self.init(bound + wrappedKey + tag + padding, at: path)
    }

    /// Performs all checks that need no key.
    ///
    /// - Parameter path: for the message.
    /// - Throws: ``VaultError``.
    package init(_ bytes: [UInt8], at path: BytePath) throws {
        func damaged(_ field: String) -> VaultError { .damagedObject(path, .header(field)) }
        guard bytes.count == ObjectSize.header else {
            throw VaultError.truncatedObject(path, size: Int64(bytes.count), expected: nil)
        }
        var reader = ByteReader(bytes)
        guard reader.read(8) == Self.magic else { throw damaged("magic") }
        guard let format = reader.integer(UInt8.self), format == Self.format else {
            throw VaultError.unsupportedFormat(path, what: "object format \(bytes[8])")
        }
        guard reader.zeros(1) else { throw damaged("byte 9") }
        guard let wrap = reader.integer(UInt8.self).flatMap(ObjectWrap.init) else {
            throw VaultError.unsupportedFormat(path, what: "key wrap \(bytes[10])")
        }
        guard reader.integer(UInt8.self) == Self.chunkExponent else {
            throw VaultError.unsupportedFormat(path, what: "chunks of 2^\(bytes[11]) bytes")
        }
        guard reader.zeros(4) else { throw damaged("bytes 12 to 15") }
        guard let vault = reader.read(16).flatMap(VaultID.init), let id = reader.read(16).flatMap(ObjectID.init),
            reader.read(AESGCM.nonceSize) != nil
        else { throw damaged("names") }
        guard reader.zeros(4) else { throw damaged("bytes 60 to 63") }
        let encapsulatedKey = reader.read(X25519.size) ?? []
        guard wrap == .publicKey || encapsulatedKey.allSatisfy({ $0 == 0 }) else { throw damaged("bytes 64 to 95") }
        guard reader.read(Self.wrappedKeySize + HMACSHA256.size) != nil, reader.zeros(reader.remaining) else {
            throw damaged("bytes 176 to 255")
        }
        self.bytes = bytes
        self.wrap = wrap
        self.vault = vault
        self.id = id
    }

    /// Reads and checks a file's header. Blocks.
    package init(of file: Descriptor) throws {
        try self.init(try file.read(at: 0, count: ObjectSize.header), at: file.path)
    }
}
