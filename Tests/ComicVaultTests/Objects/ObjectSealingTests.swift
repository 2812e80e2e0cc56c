import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Sealing objects")
struct ObjectSealingTests {
    private let scene: ObjectScene

    init() throws { scene = try ObjectScene() }

    /// Lengths at the boundaries of chunks, batches of chunks and padding steps.
    private static let lengths =
        [0, 1, 15, 16, 17, 65_519, 65_520, 65_521, 65_536, 131_056, 131_057, 200_000] + [
            1_048_560, 1_048_561, 2_500_000,
        ]

    @Test("Content is the same after opening, at every boundary", arguments: lengths)
    func roundTrip(_ length: Int) throws {
        let bytes = pattern(length)
        let sealed = try scene.seal(bytes)
        let reader = try scene.open(sealed)
        #expect(reader.length == Int64(length))
        #expect(try reader.read(at: 0, count: length + 1) == bytes)
        #expect(try reader.verify() == ContentHash(of: bytes))
        #expect(sealed.hash == ContentHash(of: bytes))
        #expect(reader.reference == sealed.reference)
        #expect(try sealed.file.status().size == ObjectSize(content: Int64(length))?.file)
    }

    @Test("A reader that knows only the format opens a sealed object", arguments: [0, 100, 65_520, 200_000])
    func secondReader(_ length: Int) throws {
        let content = pattern(length)
        let file = try scene.bytes(scene.seal(content, .metadata))
        let header = Array(file[..<256])
        func derive(_ key: SecretBytes, _ info: [UInt8], salt: ArraySlice<UInt8> = []) throws -> SecretBytes {
            try HKDF.derive(key, salt: Array(salt), info: info, count: 32)
        }
        let vault = try derive(scene.secrets.master, Array("ivo1/wrap".utf8) + header[16..<32])
        let wrap = try derive(vault, Array("wrap".utf8), salt: header[32..<60])
        let dataKey = try #require(
            try AESGCM.openSecret(
                wrap, nonce: [UInt8](repeating: 0, count: 12), aad: Array(header[..<96]), Array(header[96..<144])))
        let tag = try HMACSHA256.tag(derive(dataKey, Array("header".utf8)), Array(header[..<144]))
        #expect(tag == Array(header[144..<176]))

        let contentKey = try derive(dataKey, Array("content".utf8), salt: header[48..<60])
        let digest = ContentHash(of: Array(header[..<176])).bytes
        var plain: [UInt8] = []
        let chunks = stride(from: 256, to: file.count, by: 65_552).map { file[$0..<min($0 + 65_552, file.count)] }
        for (index, chunk) in chunks.enumerated() {
            let last: UInt8 = index == chunks.count - 1 ? 1 : 0
            let mask = [UInt8](repeating: 0, count: 7) + UInt32(index).bigEndianBytes + [last]
            let nonce = zip(header[48..<60], mask).map { $0 ^ $1 }
            let aad = digest + UInt64(index).bigEndianBytes + [last]
            plain += try #require(try AESGCM.open(contentKey, nonce: nonce, aad: aad, Array(chunk)))
        }
        #expect(Array(plain.prefix(16)) == [4, 0, 0, 0, 0, 0, 0, 0] + UInt64(length).bigEndianBytes)
        #expect(Array(plain.dropFirst(16).prefix(length)) == content)
        #expect(plain.dropFirst(16 + length).allSatisfy { $0 == 0 })
    }

    @Test("HPKE with the name of the vault opens the key of a deposit")
    func keyOfADeposit() throws {
        let id = scene.secrets.id
        let pair = scene.secrets.keyPair
        let header = try scene.seal([1, 2, 3], .deposit, for: .publicKey(pair.publicKey, id)).header
        let dataKey = try HPKE.open(
            enc: header.encapsulatedKey, privateKey: pair.privateKey, publicKey: pair.publicKey,
            info: Array("ivo1 drop".utf8) + id.bytes, aad: Array(header.bytes[..<96]), sealed: header.wrappedKey)
        #expect(try header.verifies(#require(dataKey)))
    }

    @Test("A deposit opens with the key pair alone, its envelope before the archive")
    func deposit() throws {
        let archive = pattern(100_000)
        let source = try scene.file(archive)
        let hash = ContentHash(of: archive)
        let envelope = UInt32(5).bigEndianBytes + Array("hello".utf8)
        let id = scene.secrets.id
        let sealed = try ObjectWriter.seal(
            .deposit, ObjectContent(source, hash: hash, prefix: envelope),
            for: .publicKey(scene.secrets.keyPair.publicKey, id), into: scene.file())
        try sealed.verify()
        #expect(sealed.hash == hash)
        let reader = try ObjectReader(sealed.file, sealed.id, .deposit, with: .keyPair(scene.secrets.keyPair, id))
        #expect(try reader.read(at: 0, count: 200_000) == envelope + archive)

        let stranger = try VaultKeyPair(privateKey: .random(32))
        #expect(
            outcome { _ = try ObjectReader(sealed.file, sealed.id, .deposit, with: .keyPair(stranger, id)) }
                == "damaged key")
        #expect(outcome { _ = try scene.open(sealed) } == "damaged key")
    }

    @Test("Files are read-only and have a constant time")
    func attributes() throws {
        let status = try scene.seal([1]).file.status()
        #expect(status.mode == 0o400)
        #expect(status.fingerprint.modified == 946_684_800_000_000_000)
    }

    @Test("Names, keys and nonces never repeat, and are never derived from the content alone")
    func freshness() throws {
        let all = try (0..<50).map { _ in try scene.seal([1, 2, 3]) }
        #expect(Set(all.map(\.id)).count == 50)
        #expect(Set(all.map(\.header.nonce)).count == 50)
        #expect(Set(all.map(\.contentKey.exposed)).count == 50)
        #expect(try Set(all.map { try scene.bytes($0)[256...].prefix(64) }).count == 50)
    }

    @Test("If the generator repeated itself, other content, kinds and vaults would still have other keys")
    func repeatedRandomness() throws {
        let seed = try SecretBytes.random(32)
        let nonce = [UInt8](repeating: 1, count: 12)
        let other = try VaultSecrets.generate(for: .random())
        func make(_ kind: ObjectKind, _ text: String, _ keys: VaultKeys) throws -> ObjectSecrets {
            try ObjectSecrets(
                kind, content: ContentHash(of: text.utf8), for: .vault(keys), at: "a", seed: seed, nonce: nonce)
        }
        let all = [
            try make(.archive, "a", scene.keys), try make(.archive, "b", scene.keys),
            try make(.metadata, "a", scene.keys), try make(.archive, "a", other.keys),
        ]
        #expect(Set(all.map(\.dataKey.exposed)).count == 4)
        #expect(Set(all.map(\.header.id)).count == 4)
        let deposits = try ["a", "b"].map {
            try ObjectSecrets(
                .deposit, content: ContentHash(of: $0.utf8), for: .publicKey(other.keyPair.publicKey, other.id),
                at: "a", seed: seed, nonce: nonce)
        }
        #expect(Set(deposits.map(\.header.encapsulatedKey)).count == 2)
    }

    @Test("Two deposits of one archive with different envelopes differ in what determines their keys")
    func envelopeDecides() throws {
        let file = try scene.file([1, 2, 3])
        let hash = ContentHash(of: [1, 2, 3])
        let contents = try [[], [1], [2]].map { try ObjectContent(file, hash: hash, prefix: $0) }
        #expect(Set(contents.map(\.identity)).count == 3)
    }

    // MARK: - Sources that change

    @Test("Content that differs from the validated one is detected when reading back")
    func changedContent() throws {
        let source = try scene.file(pattern(100_000))
        let content = try ObjectContent(source, hash: ContentHash(of: pattern(100_000)))
        try source.write([0xFF], at: 99_999)
        let sealed = try ObjectWriter.seal(.archive, content, for: .vault(scene.keys), into: scene.file())
        #expect(outcome { try sealed.verify() } == "content changed")
    }

    @Test("A source that shrinks or grows is rejected", arguments: [99_999, 100_001])
    func changedLength(_ length: Int64) throws {
        let source = try scene.file(pattern(100_000))
        let content = try ObjectContent(source, hash: ContentHash(of: pattern(100_000)))
        try source.truncate(to: length)
        #expect(
            outcome { _ = try ObjectWriter.seal(.archive, content, for: .vault(scene.keys), into: scene.file()) }
                == "content changed")
    }

    @Test("An error of the source ends the sealing, with its own reason")
    func failingSource() throws {
        let content = ObjectContent(streamOf: "pages", length: 10, identity: ContentHash(of: [1])) { _, _ in
            throw Fault.system("read", "pages", errno: ENOSPC)
        }
        do {
            _ = try ObjectWriter.seal(.pagePack, content, for: .vault(scene.keys), into: scene.file())
            Issue.record("sealed what could not be read")
        } catch let error as VaultError {
            guard case .encryptionFailed = error else { throw error }
            #expect(error.fault.kind == .transient)
            #expect(error.fault.errno == ENOSPC)
        }
    }

    @Test("A stream without a hash is hashed while sealing, and verified when reading back")
    func stream() throws {
        let bytes = pattern(1_200_000)
        let content = ObjectContent(streamOf: "pages", length: 1_200_000, identity: ContentHash(of: [1])) {
            let part = bytes[min(Int($1), bytes.count)...].prefix($0.count)
            $0.copyBytes(from: part)
            return part.count
        }
        let sealed = try ObjectWriter.seal(.pagePack, content, for: .vault(scene.keys), into: scene.file())
        #expect(sealed.hash == ContentHash(of: bytes))
        try sealed.verify()
        #expect(try scene.open(sealed).verify() == sealed.hash)
    }

    @Test("An object is never written over another file")
    func usedFile() throws {
        let content = ObjectContent([1])
        let used = try scene.file([1])
        #expect(
            outcome { _ = try ObjectWriter.seal(.archive, content, for: .vault(scene.keys), into: used) }
                == "encryption failed")
        #expect(try used.readAll() == [1])
    }

    @Test(
        "Reading back detects every kind of damage between writing and renaming",
        arguments: [0, 40, 100, 150, 300, 65_800])
    func readBack(_ offset: Int64) throws {
        let sealed = try ObjectWriter.seal(
            .archive, ObjectContent(pattern(1000)), for: .vault(scene.keys), into: scene.file())
        let old = try sealed.file.read(at: offset, count: 1)
        try sealed.file.write([old[0] ^ 4], at: offset)
        #expect(outcome { try sealed.verify() } == "encryption failed")
        try sealed.file.write(old, at: offset)
        try sealed.verify()
        try sealed.file.truncate(to: 65_807)
        #expect(outcome { try sealed.verify() } == "encryption failed")
    }

    @Test("A full disk is transient, and the message says what to do")
    func fullDisk() throws {
        let full = try Descriptor("/dev/full", O_RDWR)
        do {
            _ = try ObjectWriter.seal(.archive, ObjectContent([1]), for: .vault(scene.keys), into: full)
            Issue.record("sealed to a full disk")
        } catch let error as VaultError {
            #expect(error.fault.kind == .transient)
            #expect(error.description.contains("free some space"))
        }
    }
}
