import Foundation
import Platform

/// The input that opens a key slot, normalised to the form that the format expects.
package struct Credential: Sendable {
    package enum Kind: UInt8, Sendable, Codable, CustomStringConvertible {
        case password = 1
        case keyFile = 2

        package var description: String { self == .password ? "password" : "key file" }
    }

    /// A password longer than this is refused; in bytes of its normal form.
    package static let passwordLimit = 1024
    package static let keyFileSizes = 32...4096

    package let kind: Kind
    /// A password in its normal form, or a key file's bytes.
    package let bytes: SecretBytes

    /// A password as typed or handed over. It must be valid UTF-8 and is normalised to NFC, so that it does not matter
    /// how a keyboard composes its letters.
    ///
    /// - Parameter dropsFinalNewline: for input from a file descriptor or a credential.
    /// - Throws: ``VaultError/unusablePassword(_:)``.
    package static func password(_ typed: SecretBytes, dropsFinalNewline: Bool = false) throws -> Credential {
        let hasNewline = typed.withBytes { $0.last == UInt8(ascii: "\n") }
        let raw = dropsFinalNewline && hasNewline ? try typed.prefix(typed.count - 1) : typed
        // Normalisation can shorten, but not by this much.
        guard raw.count <= 16 * passwordLimit else { throw VaultError.unusablePassword(.tooLong) }
        let normal = try normalised(raw)
        guard normal.count > 0 else { throw VaultError.unusablePassword(.empty) }
        guard normal.count <= passwordLimit else { throw VaultError.unusablePassword(.tooLong) }
        return Credential(kind: .password, bytes: normal)
    }

    /// A warning if the password is easily guessed; nil for other passwords and for key files.
    package var weakness: String? {
        guard kind == .password else { return nil }
        // Each scalar has one byte that continues none.
        let count = bytes.withBytes { $0.count { $0 & 0xC0 != 0x80 } }
        guard count < Self.shortPassword else { return nil }
        return
            "that password has \(count == 1 ? "1 character" : "\(count) characters"): anybody with a copy of the vault can try "
            + "all passwords of that length; use several words, or a key file"
    }

    /// Characters below which a password is called short.
    private static let shortPassword = 8

    /// The raw bytes of a key file.
    ///
    /// - Throws: ``VaultError/unusableKeyFile(_:)``.
    package static func keyFile(_ bytes: SecretBytes) throws -> Credential {
        guard keyFileSizes.contains(bytes.count) else {
            throw VaultError.unusableKeyFile(
                "it has \(bytes.count) bytes, and must have 32 to 4,096; make one with `head -c 64 /dev/random`")
        }
        let distinct = bytes.withBytes { Set($0).count }
        guard distinct > 8 else {
            throw VaultError.unusableKeyFile("it is not random; make one with `head -c 64 /dev/random`")
        }
        return Credential(kind: .keyFile, bytes: bytes)
    }

    /// A password or key file passed on by another process of this program, already normalised.
    ///
    /// - Throws: ``VaultError/unusablePassword(_:)``, ``VaultError/unusableKeyFile(_:)``.
    package static func received(_ kind: Kind, _ bytes: SecretBytes) throws -> Credential {
        guard kind == .password else { return try keyFile(bytes) }
        guard bytes.count > 0 else { throw VaultError.unusablePassword(.empty) }
        guard bytes.count <= passwordLimit else { throw VaultError.unusablePassword(.tooLong) }
        return Credential(kind: .password, bytes: bytes)
    }

    /// - Returns: the password in NFC. A pure ASCII password never leaves the locked memory.
    private static func normalised(_ raw: SecretBytes) throws -> SecretBytes {
        if raw.withBytes({ $0.allSatisfy { $0 < 0x80 } }) {
            guard raw.withBytes({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else {
                throw VaultError.unusablePassword(.controlCharacter)
            }
            return raw
        }
        guard let text = raw.withBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw VaultError.unusablePassword(.notUTF8)
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw VaultError.unusablePassword(.controlCharacter)
        }
        var bytes = Array(text.precomposedStringWithCanonicalMapping.utf8)
        defer { wipe(&bytes) }
        return try SecretBytes(bytes)
    }

    /// PK in the format. Blocks for a quarter of a second with a password.
    func key(salt: [UInt8]) throws -> SecretBytes {
        switch kind {
        case .password:
            try PBKDF2.derive(password: bytes, salt: salt, iterations: Int(KeySlot.iterations), count: 32)
        case .keyFile: try HKDF.derive(bytes, salt: salt, info: [])
        }
    }
}
