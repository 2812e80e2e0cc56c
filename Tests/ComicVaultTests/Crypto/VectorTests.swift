import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicVault

/// The primitives against published vectors (`Vectors/README.md` names the sources).
@Suite("Published vectors")
struct VectorTests {
    /// The cases of one file, each a table of names and values.
    private func cases(_ name: String) throws -> [[String: String]] {
        let text = try String(contentsOf: try url(name), encoding: .utf8)
        var cases: [[String: String]] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts[0] == "Case" { cases.append([:]) }
            cases[cases.count - 1][parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        return cases
    }

    private func url(_ name: String) throws -> URL {
        guard let url = Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Vectors") else {
            throw TestFailure("no vectors \(name)")
        }
        return url
    }

    @Test(
        "AES-256-GCM seals, opens and rejects as NIST and Wycheproof say",
        arguments: [("aes256gcm-nist.txt", 150), ("aes256gcm-wycheproof.txt", 66)])
    func gcm(_ file: String, count: Int) throws {
        let cases = try cases(file)
        #expect(cases.count == count)
        for known in cases {
            func bytes(_ name: String) throws -> [UInt8] { try unhex(known[name] ?? "") }
            let key = try SecretBytes(bytes("Key"))
            let sealed = try bytes("CT") + bytes("Tag")
            let opened = try AESGCM.open(key, nonce: bytes("IV"), aad: bytes("AAD"), sealed)
            if known["FAIL"] != nil {
                #expect(opened == nil)
            } else {
                #expect(try opened == bytes("PT"))
                #expect(try AESGCM.seal(key, nonce: bytes("IV"), aad: bytes("AAD"), bytes("PT")) == sealed)
            }
        }
    }

    @Test(
        "HKDF-SHA256 derives as RFC 5869 and Wycheproof say, up to the maximum length",
        arguments: [("hkdf-rfc5869.txt", 3), ("hkdf-wycheproof.txt", 86)])
    func hkdf(_ file: String, count: Int) throws {
        let cases = try cases(file)
        #expect(cases.count == count)
        for known in cases {
            func derived() throws -> [UInt8] {
                try HKDF.derive(
                    SecretBytes(unhex(known["IKM"] ?? "")), salt: unhex(known["salt"] ?? ""),
                    info: unhex(known["info"] ?? ""), count: Int(known["L"] ?? "") ?? 0
                ).exposed
            }
            if known["FAIL"] != nil {
                #expect(throws: Fault.self) { try derived() }
            } else {
                #expect(try derived() == unhex(known["OKM"] ?? ""))
            }
        }
    }

    @Test("HMAC-SHA256 matches Wycheproof's tags, and Python's for an empty key")
    func hmac() throws {
        let cases = try cases("hmac-wycheproof.txt")
        #expect(cases.count == 87)
        for known in cases {
            let tag = try HMACSHA256.tag(SecretBytes(unhex(known["Key"] ?? "")), unhex(known["Msg"] ?? ""))
            #expect(try (tag == unhex(known["Tag"] ?? "")) == (known["FAIL"] == nil))
        }
        #expect(
            try HMACSHA256.tag(SecretBytes([]), [1])
                == unhex("3d7afb663124ecbf2c953f863d4fc8796eeb2d372b64aad58697ec5264649cdb"))
    }

    @Test(
        "PBKDF2-HMAC-SHA256 derives as RFC 7914 and Wycheproof say",
        arguments: [("pbkdf2-rfc7914.txt", 2), ("pbkdf2-wycheproof.txt", 20)])
    func pbkdf2(_ file: String, count: Int) throws {
        let cases = try cases(file)
        #expect(cases.count == count)
        for known in cases {
            let expected = try unhex(known["DK"] ?? "")
            let derived = try PBKDF2.derive(
                password: SecretBytes(unhex(known["P"] ?? "")), salt: unhex(known["S"] ?? ""),
                iterations: Int(known["c"] ?? "") ?? 0, count: expected.count)
            #expect(derived.exposed == expected)
        }
    }

    @Test(
        "X25519 computes as RFC 7748 and Wycheproof say, and never an all-zero secret",
        arguments: [("x25519-rfc7748.txt", 2), ("x25519-wycheproof.txt", 129)])
    func x25519(_ file: String, count: Int) throws {
        let cases = try cases(file)
        #expect(cases.count == count)
        for known in cases {
            let expected = try unhex(known["OUTPUT_U"] ?? "")
            let secret = try X25519.sharedSecret(
                SecretBytes(unhex(known["INPUT_SCALAR"] ?? "")), with: unhex(known["INPUT_U"] ?? ""))
            #expect(secret?.exposed == (expected.allSatisfy { $0 == 0 } ? nil : expected))
        }
    }

    private struct HPKEVector: Decodable {
        struct Encryption: Decodable { let aad, ct, pt: String }
        let info, ikmR, ikmE, skRm, pkRm, skEm, enc: String
        let encryptions: [Encryption]
    }

    @Test("HPKE in base mode matches the CFRG's test vector, starting from its key material")
    func hpke() throws {
        let data = try Data(contentsOf: url("hpke-base-x25519-sha256-aes256gcm.json"))
        let known = try JSONDecoder().decode(HPKEVector.self, from: data)
        let recipient = try HPKE.deriveKeyPair(SecretBytes(unhex(known.ikmR)))
        #expect(try recipient.privateKey.exposed == unhex(known.skRm))
        #expect(try recipient.publicKey == unhex(known.pkRm))
        #expect(try HPKE.deriveKeyPair(SecretBytes(unhex(known.ikmE))).privateKey.exposed == unhex(known.skEm))

        let first = try #require(known.encryptions.first)
        let made = try HPKE.seal(
            to: recipient.publicKey, info: unhex(known.info), aad: unhex(first.aad),
            ikmE: SecretBytes(unhex(known.ikmE)), plaintext: SecretBytes(unhex(first.pt)))
        #expect(try made.enc == unhex(known.enc))
        #expect(try made.sealed == unhex(first.ct))
        let opened = try HPKE.open(
            enc: unhex(known.enc), privateKey: recipient.privateKey, publicKey: recipient.publicKey,
            info: unhex(known.info), aad: unhex(first.aad), sealed: unhex(first.ct))
        #expect(try opened?.exposed == unhex(first.pt))
    }
}
