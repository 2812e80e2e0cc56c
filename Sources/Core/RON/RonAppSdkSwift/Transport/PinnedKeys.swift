import Foundation
import HTTPKit
import NIOCore
import NIOSSL

/// Public keys of which a node must have one, in addition to a trusted certificate (docs/design/ron.md, "Decisions").
///
/// A key outlives the renewal of its certificate. Include the key of the next certificate before it comes into use:
/// calls to a node with any other key fail.
public struct PinnedKeys: Sendable {
    /// In the form of certificates: SubjectPublicKeyInfo, in DER.
    private let keys: Set<[UInt8]>

    /// The keys of certificates.
    ///
    /// - Parameter pem: One or more certificates, in PEM, as printed by `openssl s_client -showcerts`: those of nodes,
    ///   not of authorities.
    /// - Throws: ``SdkConfigError`` if there is none, or one cannot be read.
    public init(certificates pem: String) throws(SdkConfigError) {
        do {
            keys = Set(
                try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { try $0.extractPublicKey().toSPKIBytes() })
        } catch {
            throw Self.unreadable("certificate")
        }
        if keys.isEmpty { throw Self.unreadable("certificate") }
    }

    /// Bare keys.
    ///
    /// - Parameter pem: One or more public keys, in PEM, as printed by `openssl x509 -pubkey -noout`.
    /// - Throws: ``SdkConfigError`` if there is none, or one cannot be read.
    public init(publicKeys pem: String) throws(SdkConfigError) {
        let (begin, end) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----")
        var found: Set<[UInt8]> = []
        for part in pem.split(separator: begin).dropFirst(pem.hasPrefix(begin) ? 0 : 1) {
            guard let stop = part.range(of: end),
                let key = Data(base64Encoded: String(part[..<stop.lowerBound]), options: .ignoreUnknownCharacters),
                !key.isEmpty
            else { throw Self.unreadable("public key") }
            found.insert([UInt8](key))
        }
        if found.isEmpty { throw Self.unreadable("public key") }
        keys = found
    }

    private static func unreadable(_ what: String) -> SdkConfigError {
        SdkConfigError(setting: "pinnedKeys", message: "hold no \(what) in PEM that can be read")
    }

    /// Ends a new connection, before anything is sent on it, unless the node has one of the keys.
    ///
    /// - Parameter channel: A connection after its TLS handshake; an unencrypted one ends as well.
    /// - Returns: Fails with `HTTPFailure` if the node has another key.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        let other = HTTPFailure(.tls, "the node's key is none of those that it may have")
        let checked = channel.nioSSL_peerCertificate()
            .flatMapErrorThrowing { _ in throw other }
            .flatMapThrowing { certificate in
                guard let key = try certificate?.extractPublicKey().toSPKIBytes(), keys.contains(key) else {
                    throw other
                }
            }
        // The creator of the connection is notified first, and does not close it.
        checked.whenFailure { _ in channel.eventLoop.execute { channel.close(promise: nil) } }
        return checked
    }
}
