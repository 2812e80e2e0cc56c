import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Secrets in memory")
struct PrimitiveSecretTests {
    @Test("New ones are zeros; slices are copies; only equal ones match")
    func basics() throws {
        #expect(try SecretBytes(count: 40).exposed == [UInt8](repeating: 0, count: 40))
        let secret = try SecretBytes([1, 2, 3, 4])
        #expect(try secret.prefix(1).exposed == [1])
        #expect(try secret.suffix(3).exposed == [2, 3, 4])
        #expect(try secret.appending(secret).exposed == [1, 2, 3, 4, 1, 2, 3, 4])
        #expect(try secret.matches(SecretBytes([1, 2, 3, 4])))
        #expect(try !secret.matches(SecretBytes([1, 2, 3, 5])))
        #expect(try !secret.matches(SecretBytes([1, 2, 3])))
        #expect(try SecretBytes(count: 0).matches(SecretBytes([])))
    }

    @Test("Are in locked memory and excluded from core dumps")
    func locked() throws {
        let secret = try SecretBytes.random(32)
        let address = secret.withBytes { UInt(bitPattern: $0.baseAddress) }
        let maps = String(decoding: try Descriptor("/proc/self/smaps").readAll(), as: UTF8.self)
        var flags: Substring = ""
        var isOurs = false
        for line in maps.split(separator: "\n") {
            let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            if range.count == 2 { isOurs = range[0] <= address && address < range[1] }
            if isOurs, line.hasPrefix("VmFlags:") { flags = line }
        }
        #expect(flags.split(separator: " ").contains("lo"), "not locked: \(flags)")
        #expect(flags.split(separator: " ").contains("dd"), "would be in a core dump: \(flags)")
    }

    @Test("Are wiped when freed: the next secret in the same memory is all zeros")
    func wiped() throws {
        for _ in 0..<200 {
            _ = try SecretBytes([UInt8](repeating: 0xA5, count: 64))
            #expect(try SecretBytes(count: 64).exposed == [UInt8](repeating: 0, count: 64))
        }
    }

    @Test("Are not shown by description or reflection")
    func hidden() throws {
        let secret = try SecretBytes(Array("swordfish".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("swordfish"))
    }

    @Test("Leave nothing behind when filling fails")
    func failedFilling() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) { try SecretBytes(count: 8) { _ in throw Stop() } }
    }

    @Test("Can be created in large numbers, and by a thousand threads without mixing them up")
    func concurrent() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for round in 0..<300 {
                        let bytes = [UInt8](repeating: UInt8(number * 30 + round % 30), count: 48)
                        let secret = try SecretBytes(bytes)
                        #expect(secret.exposed == bytes)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

@Suite("Primitives")
struct PrimitiveTests {
    @Test("Random bytes have the requested length, even beyond one system call, and do not repeat")
    func random() throws {
        #expect(try SecureRandom.bytes(0).isEmpty)
        #expect(try SecureRandom.bytes(1000).count == 1000)
        #expect(try SecureRandom.bytes(300).suffix(44).contains { $0 != 0 })
        #expect(try Set((0..<1000).map { _ in try SecureRandom.bytes(16) }).count == 1000)
    }

    @Test("A tag that does not verify yields nothing, and leaves nothing in the buffer")
    func refusedTag() throws {
        let key = try SecretBytes.random(32)
        let nonce = [UInt8](repeating: 7, count: 12)
        var sealed = try AESGCM.seal(key, nonce: nonce, aad: [1], Array("secret text".utf8))
        sealed[sealed.count - 1] ^= 1
        #expect(try AESGCM.open(key, nonce: nonce, aad: [1], sealed) == nil)
        #expect(try AESGCM.openSecret(key, nonce: nonce, aad: [1], sealed) == nil)
        #expect(try AESGCM.open(key, nonce: nonce, aad: [1], [1, 2, 3]) == nil)

        let cipher = try GCMCipher(.open, key: key)
        var target = [UInt8](repeating: 9, count: sealed.count - 16)
        let verified = try nonce.withUnsafeBytes { nonce in
            try [1].withUnsafeBytes { aad in
                try sealed.withUnsafeBytes { sealed in
                    try target.withUnsafeMutableBytes { try cipher.open(nonce: nonce, aad: aad, sealed, into: $0) }
                }
            }
        }
        #expect(!verified)
        #expect(target == [UInt8](repeating: 0, count: target.count))
    }

    @Test("One cipher seals and opens many texts in place, including empty ones")
    func reused() throws {
        var generator = SeededGenerator(for: "reused")
        let key = try SecretBytes.random(32)
        let sealing = try GCMCipher(.seal, key: key)
        let opening = try GCMCipher(.open, key: key)
        for (index, length) in [0, 1, 15, 16, 17, 4096, 65_536, 0].enumerated() {
            let text = randomBytes(length, &generator)
            let nonce = [UInt8](repeating: UInt8(index), count: 12)
            var buffer = text + [UInt8](repeating: 0, count: 16)
            try nonce.withUnsafeBytes { nonce in
                try buffer.withUnsafeMutableBytes {
                    try sealing.seal(
                        nonce: nonce, aad: nonce,
                        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0).prefix(length)), into: $0)
                }
            }
            #expect(try AESGCM.seal(key, nonce: nonce, aad: nonce, text) == buffer)
            let verified = try nonce.withUnsafeBytes { nonce in
                try buffer.withUnsafeMutableBytes {
                    try opening.open(nonce: nonce, aad: nonce, UnsafeRawBufferPointer($0), into: $0)
                }
            }
            #expect(verified)
            #expect(Array(buffer.prefix(length)) == text)
        }
    }

    @Test("Keys and nonces of a wrong size are rejected, not truncated or padded")
    func sizes() throws {
        let nonce = [UInt8](repeating: 0, count: 12)
        for count in [0, 16, 31, 33] {
            #expect(throws: Fault.self) { try AESGCM.seal(SecretBytes(count: count), nonce: nonce, aad: [], [1]) }
        }
        for count in [0, 8, 11, 13, 16] {
            #expect(throws: Fault.self) {
                try AESGCM.seal(
                    SecretBytes(count: 32), nonce: Array(nonce.prefix(0)) + .init(repeating: 0, count: count), aad: [],
                    [1])
            }
        }
        #expect(throws: Fault.self) { try HKDF.derive(SecretBytes(count: 32), info: [], count: 8161) }
        #expect(try HKDF.derive(SecretBytes(count: 32), info: [], count: 8160).count == 8160)
    }

    @Test("HPKE opens only with its key, info and data, and rejects public keys of small order")
    func hpke() throws {
        let pair = try VaultKeyPair(privateKey: .random(32))
        let other = try VaultKeyPair(privateKey: .random(32))
        let text = try SecretBytes.random(32)
        let (enc, sealed) = try HPKE.seal(to: pair.publicKey, info: [1], aad: [2], ikmE: .random(32), plaintext: text)
        func open(_ pair: VaultKeyPair, enc: [UInt8], info: [UInt8] = [1], aad: [UInt8] = [2]) throws -> SecretBytes? {
            try HPKE.open(
                enc: enc, privateKey: pair.privateKey, publicKey: pair.publicKey, info: info, aad: aad, sealed: sealed)
        }
        #expect(try open(pair, enc: enc)?.matches(text) == true)
        #expect(try open(other, enc: enc) == nil)
        #expect(try open(pair, enc: enc, info: []) == nil)
        #expect(try open(pair, enc: enc, aad: [3]) == nil)
        #expect(try open(pair, enc: other.publicKey) == nil)

        // The points of small order of Curve25519 (RFC 7748, section 6.1, speaks of them): zero and one among them.
        for first in [UInt8(0), 1] {
            let weak = [first] + [UInt8](repeating: 0, count: 31)
            #expect(try open(pair, enc: weak) == nil)
            #expect(throws: Fault.self) {
                try HPKE.seal(to: weak, info: [], aad: [], ikmE: .random(32), plaintext: text)
            }
        }
        #expect(try open(pair, enc: Array(enc.dropLast())) == nil)
    }

    @Test("Keys of a vault differ by purpose and by vault")
    func keySchedule() throws {
        let master = try SecretBytes.random(32)
        let one = try VaultKeys(master: master, id: .random())
        let other = try VaultKeys(master: master, id: .random())
        let all = [one.wrap, one.manifest, one.dedup, other.wrap, other.manifest, other.dedup].map(\.exposed)
        #expect(Set(all).count == 6)
        #expect(throws: Fault.self) { try VaultKeys(master: SecretBytes(count: 16), id: .random()) }
    }

    @Test("Names have one canonical spelling")
    func names() throws {
        let id = try ObjectID.random()
        #expect(ObjectID(hex: id.description) == id)
        #expect(id.description.count == 32)
        #expect(ObjectID(hex: id.description.uppercased()) == nil || id.description == id.description.uppercased())
        #expect(ObjectID(hex: "") == nil)
        #expect(ObjectID(hex: String(repeating: "0", count: 31)) == nil)
        #expect(ObjectID(hex: String(repeating: "é", count: 16)) == nil)
        #expect(VaultID(bytes: [1, 2]) == nil)
        let coded = try JSONEncoder().encode([id])
        #expect(try JSONDecoder().decode([ObjectID].self, from: coded) == [id])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ObjectID].self, from: Data("[\"x\"]".utf8)) }
    }

    @Test("A reader of fields never reads past the end")
    func byteReader() throws {
        var reader = ByteReader([1, 2, 3, 0, 0, 9])
        let short = reader.integer(UInt16.self)
        let tooLong = reader.integer(UInt64.self)
        #expect(short == 0x0102 && tooLong == nil)
        #expect(reader.offset == 2)
        let negative = reader.read(-1)
        let one = reader.read(1)
        #expect(negative == nil && one == [3])
        let (areZero, isZero) = (reader.zeros(2), reader.zeros(1))
        #expect(areZero && !isZero)
        #expect(reader.isAtEnd)
        let (after, rest) = (reader.read(1), reader.rest())
        #expect(after == nil && rest == [])
        #expect(UInt32(0x01_02_03_04).bigEndianBytes == [1, 2, 3, 4])
        var large = ByteReader(UInt64.max.bigEndianBytes)
        let largest = large.integer(UInt64.self)
        #expect(largest == .max)
    }
}
