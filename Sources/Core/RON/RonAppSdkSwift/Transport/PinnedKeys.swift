import Foundation
import HTTPKit
import NIOCore
import NIOSSL

/// The public keys of which a node has to have one, whoever vouches for its certificate
/// (docs/design/ron.md, "Decisions").
///
/// A key outlives a certificate that is made anew for it. Give that of the next certificate too, before it comes into use:
/// calls to a node whose key is none of these fail.
public struct PinnedKeys: Sendable {
    /// As they stand in certificates: SubjectPublicKeyInfo, in DER.
    private let keys: Set<[UInt8]>

    /// The keys of certificates.
    ///
    /// - Parameter pem: One certificate or more, in PEM, as `openssl s_client -showcerts` prints them: those of nodes, not of
    ///   authorities.
    /// - Throws: ``SdkConfigError``, where there is none, or one that cannot be read.
    public init(certificates pem: String) throws(SdkConfigError) {
        do {
            keys = Set(
                try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { try $0.extractPublicKey().toSPKIBytes() })
        } catch {
            throw Self.unreadable("certificate")
        }
        if keys.isEmpty { throw Self.unreadable("certificate") }
    }

    /// Keys by themselves.
    ///
    /// - Parameter pem: One public key or more, in PEM, as `openssl x509 -pubkey -noout` prints them.
    /// - Throws: ``SdkConfigError``, where there is none, or one that cannot be read.
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
    /// - Parameter channel: A connection on which keys have been agreed on; one without encryption ends as well.
    /// - Returns: Fails with `HTTPFailure` where the node is another.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        let other = HTTPFailure(.tls, "the node's key is none of those that it may have")
        let checked = channel.nioSSL_peerCertificate()
            .flatMapErrorThrowing { _ in throw other }
            .flatMapThrowing { certificate in
                guard let key = try certificate?.extractPublicKey().toSPKIBytes(), keys.contains(key) else {
                    throw other
                }
            }
        // Who makes the connection hears of it first, and does not close it.
        checked.whenFailure { _ in channel.eventLoop.execute { channel.close(promise: nil) } }
        return checked
    }
}
