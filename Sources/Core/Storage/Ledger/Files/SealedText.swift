import Foundation
import Platform

/// Encrypts data about a hidden file: `1 ‖ nonce12 ‖ AES-256-GCM of the text`. The nonce is the beginning of an HMAC of
/// the text under a separate key, so no two texts share one, even on a machine cloned with its random generator's
/// state. Equal texts are recognizable.
struct SealedText {
    private static let form: UInt8 = 1

    private let root: [UInt8]

    /// - Parameter root: the key of hidden names, from which the keys for texts and nonces are derived.
    init(_ root: [UInt8]) { self.root = root }

    private func key(_ purpose: String) throws -> SecretBytes {
        SecretBytes(lockedWherePossible: try HMACSHA256.tag(root, Array("sealed text, \(purpose)".utf8)))
    }

    func seal(_ text: [UInt8]) throws -> [UInt8] {
        let nonce = Array(try HMACSHA256.tag(key("nonce"), text).prefix(AESGCM.nonceSize))
        return [Self.form] + nonce + (try AESGCM.seal(key("text"), nonce: nonce, aad: [Self.form], text))
    }

    /// - Returns: nil if it was not sealed with this key.
    func open(_ sealed: [UInt8]) throws -> [UInt8]? {
        let start = 1 + AESGCM.nonceSize
        if sealed.first == Self.form, sealed.count >= start + AESGCM.tagSize {
            let nonce = Array(sealed[1..<start])
            let text = try AESGCM.open(key("text"), nonce: nonce, aad: [Self.form], Array(sealed[start...]))
            if let text { return text }
        }
        return try opensOld(sealed)
    }

    /// The format of earlier versions: `nonce16 ‖ tag16 ‖ text`, each block of 32 bytes XORed with an HMAC of nonce and
    /// offset.
    private func opensOld(_ sealed: [UInt8]) throws -> [UInt8]? {
        let (nonce, tag, covered) = (
            Array(sealed.prefix(16)), Array(sealed.dropFirst(16).prefix(16)), Array(sealed.dropFirst(32))
        )
        let found = try HMACSHA256.tag(root, Array("tag:".utf8), nonce, covered).prefix(16)
        guard constantTimeEqual(tag, Array(found)) else { return nil }
        return try stride(from: 0, to: covered.count, by: 32).flatMap { start in
            zip(covered[start...], try HMACSHA256.tag(root, Array("cover:\(start):".utf8), nonce)).map { $0 ^ $1 }
        }
    }
}

extension LedgerTransaction {
    private static let sealing = "sealing"

    /// Re-encrypts, once, what earlier versions sealed in intents. Leaves data that the key does not open.
    package func renewSealedTexts() throws {
        guard try meta(Self.sealing) != "1" else { return }
        let mark = "\"sealed\":\""
        let steps = try all("SELECT job, number, intent FROM step WHERE intent LIKE ?", ["%\(mark)%"]) { row in
            try (job: row["job"] as String, number: row["number"] as Int, intent: row["intent"] as String)
        }
        for (job, number, intent) in steps {
            guard let start = intent.range(of: mark)?.upperBound,
                let end = intent[start...].firstIndex(of: "\""),
                let old = bytesOf(hexadecimal: String(intent[start..<end])), let new = try names.sealedAnew(old)
            else { continue }
            try execute(
                "UPDATE step SET intent = ? WHERE job = ? AND number = ?",
                [intent.replacingCharacters(in: start..<end, with: hexadecimal(new)), job, number])
        }
        try setMeta(Self.sealing, "1")
    }
}
