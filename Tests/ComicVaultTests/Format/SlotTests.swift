import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("Key slots")
struct SlotTests {
    private let secrets: VaultSecrets
    private let description: VaultDescription
    private let name: SlotID

    init() throws {
        let id = try VaultID.random()
        secrets = try VaultSecrets.generate(for: id)
        description = VaultDescription(id: id)
        name = try SlotID.random()
    }

    private func password(_ text: String) throws -> Credential { try .password(SecretBytes(Array(text.utf8))) }

    private func keyFile() throws -> Credential { try .keyFile(.random(64)) }

    private func read(_ bytes: [UInt8]) throws -> KeySlot { try KeySlot(bytes, name, at: "a.slot") }

    @Test("Open with their own password or key file only")
    func open() throws {
        let key = try keyFile()
        let slots = [
            try KeySlot.seal(secrets, name, for: password("one"), description),
            try KeySlot.seal(secrets, name, for: key, description),
        ]
        for (slot, credential) in zip(slots, [try password("one"), key]) {
            let opened = try read(slot.bytes).open(credential, description)
            #expect(opened.master.matches(secrets.master))
            #expect(opened.keyPair.publicKey == secrets.keyPair.publicKey)
            #expect(opened.keyPair.privateKey.matches(secrets.keyPair.privateKey))
            #expect(slot.bytes.count == KeySlot.size)
        }
        for wrong in [try password("One"), try password("one "), key] {
            #expect(outcome { _ = try slots[0].open(wrong, description) } == "incorrect password")
        }
        #expect(outcome { _ = try slots[1].open(keyFile(), description) } == "incorrect password")
        #expect(outcome { _ = try slots[1].open(password("one"), description) } == "incorrect password")
    }

    @Test("Have a fresh salt and nonce for each write, and contain no secret in the clear")
    func fresh() throws {
        let key = try keyFile()
        let all = try (0..<20).map { _ in try KeySlot.seal(secrets, name, for: key, description).bytes }
        #expect(Set(all.map { Array($0[48..<80]) }).count == 20)
        #expect(Set(all.map { Array($0[4224..<4236]) }).count == 20)
        for bytes in all {
            for secret in [secrets.master, secrets.keyPair.privateKey, key.bytes] {
                #expect(Data(bytes).range(of: Data(secret.exposed)) == nil)
            }
        }
    }

    /// The expected error for a flipped bit, by its offset in the file.
    private func expected(_ offset: Int) -> [String] {
        switch offset {
        case 8: ["unsupported"]
        // The iteration count of the other kind is not accepted.
        case 9, 12..<16: ["unsupported"]
        case 16..<32: ["wrong vault"]
        case 48..<112: ["incorrect password"]
        default: ["damaged slot"]
        }
    }

    @Test("Reject every flipped bit", arguments: 0..<8)
    func everyBit(_ bit: Int) throws {
        let key = try keyFile()
        let bytes = try KeySlot.seal(secrets, name, for: key, description).bytes
        var wrong: [String] = []
        for offset in bytes.indices {
            var damaged = bytes
            damaged[offset] ^= 1 << UInt8(bit)
            let result = outcome { _ = try read(damaged).open(key, description) }
            if !expected(offset).contains(result) { wrong.append("byte \(offset): \(result)") }
        }
        #expect(wrong.isEmpty)
    }

    @Test("Reject every truncation, and extra bytes")
    func everyTruncation() throws {
        let key = try keyFile()
        let bytes = try KeySlot.seal(secrets, name, for: key, description).bytes
        for length in 0..<bytes.count {
            #expect(outcome { _ = try read(Array(bytes.prefix(length))) } == "damaged slot")
        }
        #expect(outcome { _ = try read(bytes + [0]) } == "damaged slot")
    }

    @Test("Are rejected if they are from another vault, or vault.json is")
    func otherVault() throws {
        let key = try keyFile()
        let slot = try KeySlot.seal(secrets, name, for: key, description)
        #expect(outcome { _ = try slot.open(key, VaultDescription(id: .random())) } == "wrong vault")
        let edited = try VaultDescription(
            Array("{ \"magic\":\"IVO1 comic vault\",\"format\":1,\"vaultID\":\"\(secrets.id)\"}".utf8), at: "vault.json"
        )
        #expect(outcome { _ = try slot.open(key, edited) } == "not a vault")
    }

    @Test(
        "Are rejected unless they have 600,000 iterations", arguments: [0, 1, 599_999, 600_001, 10_000_000, UInt32.max])
    func iterations(_ count: UInt32) throws {
        // Nothing is derived for this slot: sealing it as a password slot would be slow.
        var bytes = try KeySlot.seal(secrets, name, for: keyFile(), description).bytes
        bytes[9] = Credential.Kind.password.rawValue
        bytes.replaceSubrange(12..<16, with: count.bigEndianBytes)
        #expect(outcome { _ = try read(bytes) } == "unsupported")
    }

    @Test("Stay shut if the commitment differs, even if the secrets verify")
    func commitment() throws {
        let key = try keyFile()
        let one = try KeySlot.seal(secrets, name, for: key, description).bytes
        let other = try KeySlot.seal(secrets, name, for: key, description).bytes
        let mixed = Array(one[..<80] + other[80..<112] + one[112...])
        #expect(outcome { _ = try read(mixed).open(key, description) } == "incorrect password")
    }
}

@Suite("Passwords and key files")
struct SlotCredentialTests {
    private func bytes(_ text: String, newline: Bool = false) throws -> [UInt8] {
        try Credential.password(SecretBytes(Array(text.utf8)), dropsFinalNewline: newline).bytes.exposed
    }

    @Test("A password is the same regardless of Unicode composition")
    func normalisation() throws {
        #expect(try bytes("caf\u{E9}") == bytes("cafe\u{301}"))
        #expect(try bytes("\u{1E9B}\u{323}") == Array("\u{1E9B}\u{323}".utf8))
        #expect(try bytes("\u{212B}") == Array("\u{C5}".utf8))
        #expect(try bytes("\u{1100}\u{1161}") == Array("\u{AC00}".utf8))
        #expect(try bytes("a b") == Array("a b".utf8))
        // Compatibility is not equality.
        #expect(try bytes("\u{FB01}") != bytes("fi"))
    }

    @Test("One final newline is removed from a password read from a descriptor, and only there")
    func newline() throws {
        #expect(try bytes("word\n", newline: true) == Array("word".utf8))
        #expect(try bytes("word", newline: true) == Array("word".utf8))
        for text in ["word\n\n", "wo\nrd\n", "word\r\n"] {
            #expect(outcome { _ = try bytes(text, newline: true) } == "unusable password: controlCharacter")
        }
        #expect(outcome { _ = try bytes("word\n") } == "unusable password: controlCharacter")
        #expect(outcome { _ = try bytes("\n", newline: true) } == "unusable password: empty")
    }

    @Test("Control characters are rejected", arguments: ["\u{0}", "\t", "\u{1B}", "\u{7F}", "\u{85}", "é\u{9F}"])
    func controls(_ text: String) throws {
        #expect(outcome { _ = try bytes("a\(text)b") } == "unusable password: controlCharacter")
    }

    @Test("Passwords have 1 to 1,024 bytes after normalisation")
    func length() throws {
        #expect(outcome { _ = try bytes("") } == "unusable password: empty")
        #expect(try bytes(String(repeating: "x", count: 1024)).count == 1024)
        #expect(outcome { _ = try bytes(String(repeating: "x", count: 1025)) } == "unusable password: tooLong")
        // 1,536 bytes as typed.
        #expect(try bytes(String(repeating: "e\u{301}", count: 512)).count == 1024)
        #expect(outcome { _ = try bytes(String(repeating: "e\u{301}", count: 513)) } == "unusable password: tooLong")
        #expect(outcome { _ = try bytes(String(repeating: "x", count: 1 << 16)) } == "unusable password: tooLong")
    }

    @Test("Bytes that are not UTF-8 are rejected, never replaced")
    func notUTF8() throws {
        for raw in [[0xFF], [0x61, 0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            #expect(outcome { _ = try Credential.password(SecretBytes(raw)) } == "unusable password: notUTF8")
        }
    }

    @Test("A key file has 32 to 4,096 bytes, not all the same")
    func keyFiles() throws {
        for count in [32, 64, 4096] { #expect(try Credential.keyFile(.random(count)).kind == .keyFile) }
        for count in [0, 1, 31, 4097] {
            #expect(outcome { _ = try Credential.keyFile(.random(count)) } == "unusable key file")
        }
        #expect(outcome { _ = try Credential.keyFile(SecretBytes(count: 64)) } == "unusable key file")
    }
}
