import Platform

/// The record layout of a log; the log's header says which.
package enum LogForm: Sendable, CaseIterable {
    /// A record is as long as its plaintext, which reveals the kind of change and the length of a name. Read, but no
    /// longer written.
    case exact
    /// Plaintexts are zero-padded to a few common sizes.
    case padded

    /// The first 8 bytes of the log.
    var magic: [UInt8] { Array((self == .exact ? "ivo1log\n" : "ivo1lg2\n").utf8) }

    /// Keys of one form open nothing of the other.
    fileprivate var purpose: [UInt8] { Array((self == .exact ? "log" : "lg2").utf8) }
}

/// Seals the records of one log. Each has its own key, which depends on the plaintext: if the machine is cloned and
/// writes two different records at one place of the chain, they still have different keys.
package struct RecordCipher: Sendable {
    /// `be32 length ‖ s16`, in front of ciphertext and tag.
    static let prefixSize = 4 + 16
    /// Bytes of ciphertext and tag.
    static let lengths = 17...65_536

    /// The smallest padded size in bytes: most records fit into it, so that they look alike.
    private static let least = 1024

    private let form: LogForm
    private let place: [UInt8]
    private let log: SecretBytes
    private let siv: SecretBytes

    /// - Parameter salt: 32 bytes, from the log's header.
    package init(_ keys: VaultKeys, log name: LogName, salt: [UInt8], form: LogForm = .padded) throws {
        self.form = form
        let numbers = name.gen.bigEndianBytes + name.n.bigEndianBytes
        place = keys.id.bytes + numbers
        log = try HKDF.derive(keys.manifest, salt: salt, info: form.purpose + numbers)
        siv = try HKDF.derive(log, info: Array("siv".utf8))
    }

    /// - Parameters:
    ///   - seq: the record's number.
    ///   - previous: the tag of the previous record, or of the snapshot.
    package func seal(_ plaintext: [UInt8], seq: UInt64, previous: [UInt8]) throws -> [UInt8] {
        let text = form == .padded ? Self.padded(plaintext) : plaintext
        let length = text.count + AESGCM.tagSize
        guard !plaintext.isEmpty, Self.lengths.contains(length) else {
            throw Fault(.refused, "a manifest record of \(plaintext.count) bytes is longer than the format allows")
        }
        let s16 = try synthetic(text, seq, previous)
        let prefix = UInt32(length).bigEndianBytes + s16
        let sealed = try AESGCM.seal(
            try key(s16, seq), nonce: Self.nonce(seq), aad: aad(seq, previous, prefix), text)
        return prefix + sealed
    }

    /// Opens the record that begins at `offset`.
    ///
    /// - Returns: nil if no record for this place in the chain begins there; an empty plaintext if its padding is
    ///   invalid.
    package func open(
        _ bytes: [UInt8], at offset: Int, seq: UInt64, previous: [UInt8]
    ) throws -> (plaintext: [UInt8], end: Int, tag: [UInt8])? {
        guard let end = Self.end(of: bytes, at: offset) else { return nil }
        let prefix = Array(bytes[offset..<(offset + Self.prefixSize)])
        let s16 = Array(prefix[4...])
        let sealed = Array(bytes[(offset + Self.prefixSize)..<end])
        guard
            let text = try AESGCM.open(
                try key(s16, seq), nonce: Self.nonce(seq), aad: aad(seq, previous, prefix), sealed),
            constantTimeEqual(try synthetic(text, seq, previous), s16)
        else { return nil }
        return (form == .padded ? Self.unpadded(text) : text, end, Array(sealed.suffix(AESGCM.tagSize)))
    }

    /// `be32 n ‖ n bytes ‖ zeros`.
    private static func padded(_ plaintext: [UInt8]) -> [UInt8] {
        let text = UInt32(clamping: plaintext.count).bigEndianBytes + plaintext
        let most = lengths.upperBound - AESGCM.tagSize
        let size = max(text.count, min(most, max(least, Int(ObjectSize.padme(Int64(text.count))))))
        return text + [UInt8](repeating: 0, count: size - text.count)
    }

    /// - Returns: an empty array for bytes that ``padded(_:)`` does not produce.
    private static func unpadded(_ text: [UInt8]) -> [UInt8] {
        guard text.count >= 4 else { return [] }
        let count = text.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard count <= text.count - 4 else { return [] }
        let plaintext = Array(text[4..<(4 + count)])
        return padded(plaintext) == text ? plaintext : []
    }

    /// The end of the record at `offset`, by its length field alone; nil if it does not fit.
    static func end(of bytes: [UInt8], at offset: Int) -> Int? {
        guard bytes.count - offset >= prefixSize else { return nil }
        let length = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
        let end = offset + prefixSize + length
        return lengths.contains(length) && end <= bytes.count ? end : nil
    }

    private func synthetic(_ plaintext: [UInt8], _ seq: UInt64, _ previous: [UInt8]) throws -> [UInt8] {
        Array(try HMACSHA256.tag(siv, seq.bigEndianBytes, previous, plaintext).prefix(16))
    }

    private func key(_ s16: [UInt8], _ seq: UInt64) throws -> SecretBytes {
        try HKDF.derive(log, salt: s16, info: Array("rec".utf8) + seq.bigEndianBytes)
    }

    private func aad(_ seq: UInt64, _ previous: [UInt8], _ prefix: [UInt8]) -> [UInt8] {
        place + seq.bigEndianBytes + previous + prefix
    }

    private static func nonce(_ seq: UInt64) -> [UInt8] { [0, 0, 0, 0] + seq.bigEndianBytes }
}
