import COpenSSL

/// Algorithms of libcrypto, fetched once: a fetch costs more than sealing a small record.
package enum LibCrypto {
    // libcrypto shares fetched algorithms between threads; they are never modified or freed.
    nonisolated(unsafe) package static let aes256GCM = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
    nonisolated(unsafe) package static let hmac = EVP_MAC_fetch(nil, "HMAC", nil)

    /// The error for a call that libcrypto refused: its own reason, and the attempted operation.
    package static func refused(_ doing: String) -> Fault {
        var reason = "no reason given"
        let code = ERR_get_error()
        if code != 0, let text = ERR_reason_error_string(code) { reason = String(cString: text) }
        ERR_clear_error()
        return Fault(
            .failed, "libcrypto cannot \(doing): \(reason); see whether libssl3 is whole (`dpkg --verify libssl3`)")
    }

    /// - Parameter result: the call's return value; 1 means success.
    package static func check(_ result: Int32, _ doing: @autoclosure () -> String) throws {
        if result != 1 { throw refused(doing()) }
    }
}
