import Platform

/// By which a receiver knows that an event comes from who has the secret, under which key, and when it was sent.
package enum WebhookSignature {
    /// `sha256=` and 64 hexadecimal digits: HMAC-SHA256 over the timestamp and the key as they stand in their headers, and
    /// the body, with a dot between each two. The key is in it so that nobody can send again under another key what was
    /// overheard.
    ///
    /// - Parameters:
    ///   - secret: the key.
    ///   - timestamp: whole seconds since 1970.
    ///   - id: the event's, which is sent as `Idempotency-Key`.
    ///   - body: what is sent.
    /// - Returns: the header's value.
    /// - Throws: where libcrypto fails.
    package static func header(
        _ secret: SecretBytes, timestamp: Int64, id: String, body: some Sequence<UInt8>
    ) throws -> String {
        "sha256=" + hexadecimal(try HMACSHA256.tag(secret, Array("\(timestamp).\(id).".utf8), Array(body)))
    }
}
