import Platform

/// Signs events, so that a receiver can verify the sender, the key and the time.
package enum WebhookSignature {
    /// `sha256=` and 64 hexadecimal digits: HMAC-SHA256 over timestamp, key and body, joined by dots, with timestamp
    /// and key as in their headers. The key is included so that an intercepted event cannot be replayed under another
    /// key.
    ///
    /// - Parameters:
    ///   - secret: the signing key.
    ///   - timestamp: whole seconds since 1970.
    ///   - id: the event's, sent as `Idempotency-Key`.
    ///   - body: the bytes sent.
    /// - Returns: the header's value.
    /// - Throws: if libcrypto fails.
    package static func header(
        _ secret: SecretBytes, timestamp: Int64, id: String, body: some Sequence<UInt8>
    ) throws -> String {
        "sha256=" + hexadecimal(try HMACSHA256.tag(secret, Array("\(timestamp).\(id).".utf8), Array(body)))
    }
}
