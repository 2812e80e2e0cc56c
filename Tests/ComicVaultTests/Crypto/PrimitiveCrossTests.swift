import Crypto
import CryptoExtras
import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// OpenSSL and swift-crypto (BoringSSL) judge each other: what one seals, the other opens.
@Suite("Primitives against a second implementation")
struct PrimitiveCrossTests {
    private static let rounds = 60

    private func symmetric(_ key: SecretBytes) -> SymmetricKey { SymmetricKey(data: key.exposed) }

    @Test("AES-256-GCM, both ways")
    func gcm() throws {
        var generator = SeededGenerator(for: "gcm")
        for _ in 0..<Self.rounds {
            let key = try SecretBytes.random(32)
            let nonce = randomBytes(12, &generator)
            let aad = randomBytes(.random(in: 0...200, using: &generator), &generator)
            let text = randomBytes(.random(in: 0...5000, using: &generator), &generator)

            let ours = try Platform.AESGCM.seal(key, nonce: nonce, aad: aad, text)
            let box = try AES.GCM.SealedBox(combined: Data(nonce + ours))
            #expect(try [UInt8](AES.GCM.open(box, using: symmetric(key), authenticating: aad)) == text)

            let theirs = try AES.GCM.seal(
                text, using: symmetric(key), nonce: AES.GCM.Nonce(data: nonce), authenticating: aad)
            let opened = try Platform.AESGCM.open(
                key, nonce: nonce, aad: aad, [UInt8](theirs.ciphertext) + [UInt8](theirs.tag))
            #expect(opened == text)
        }
    }

    @Test("HKDF, HMAC and PBKDF2 derive the same")
    func derivations() throws {
        var generator = SeededGenerator(for: "derivations")
        for round in 0..<Self.rounds {
            let input = randomBytes(round * 3 + 1, &generator)
            let salt = randomBytes(.random(in: 0...100, using: &generator), &generator)
            let info = randomBytes(.random(in: 0...100, using: &generator), &generator)
            let count = Int.random(in: 1...300, using: &generator)
            let secret = try SecretBytes(input)

            let expected = Crypto.HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: input), salt: salt, info: info, outputByteCount: count)
            let derived = try ComicVault.HKDF.derive(secret, salt: salt, info: info, count: count)
            #expect(derived.exposed == expected.withUnsafeBytes { Array($0) })

            let tag = try HMACSHA256.tag(secret, salt, info)
            let known = HMAC<SHA256>.authenticationCode(for: salt + info, using: SymmetricKey(data: input))
            #expect(tag == Array(known))
        }
        let empty = HMAC<SHA256>.authenticationCode(for: [1], using: SymmetricKey(data: [UInt8]()))
        #expect(try HMACSHA256.tag(SecretBytes([]), [1]) == Array(empty))

        let password = Array("correct horse battery staple".utf8)
        let salt = randomBytes(32, &generator)
        let expected = try KDF.Insecure.PBKDF2.deriveKey(
            from: password, salt: salt, using: .sha256, outputByteCount: 32, unsafeUncheckedRounds: 5000)
        let derived = try ComicVault.PBKDF2.derive(
            password: SecretBytes(password), salt: salt, iterations: 5000, count: 32)
        #expect(derived.exposed == expected.withUnsafeBytes { Array($0) })
    }

    @Test("HPKE in base mode with X25519, HKDF-SHA256 and AES-256-GCM, both ways")
    func hpke() throws {
        let suite = Crypto.HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
        var generator = SeededGenerator(for: "hpke")
        for _ in 0..<Self.rounds {
            let privateKey = Curve25519.KeyAgreement.PrivateKey()
            let pair = try VaultKeyPair(privateKey: SecretBytes([UInt8](privateKey.rawRepresentation)))
            #expect(pair.publicKey == [UInt8](privateKey.publicKey.rawRepresentation))
            let info = randomBytes(.random(in: 0...60, using: &generator), &generator)
            let aad = randomBytes(.random(in: 0...120, using: &generator), &generator)
            let text = randomBytes(.random(in: 1...200, using: &generator), &generator)

            let ours = try ComicVault.HPKE.seal(
                to: pair.publicKey, info: info, aad: aad, ikmE: .random(32), plaintext: SecretBytes(text))
            var recipient = try Crypto.HPKE.Recipient(
                privateKey: privateKey, ciphersuite: suite, info: Data(info), encapsulatedKey: Data(ours.enc))
            #expect(try [UInt8](recipient.open(ours.sealed, authenticating: aad)) == text)

            var sender = try Crypto.HPKE.Sender(
                recipientKey: privateKey.publicKey, ciphersuite: suite, info: Data(info))
            let theirs = [UInt8](try sender.seal(text, authenticating: aad))
            let opened = try ComicVault.HPKE.open(
                enc: [UInt8](sender.encapsulatedKey), privateKey: pair.privateKey, publicKey: pair.publicKey,
                info: info, aad: aad, sealed: theirs)
            #expect(opened?.exposed == text)
        }
    }
}
