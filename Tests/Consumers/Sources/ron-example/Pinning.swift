import Foundation
import NIOSSL
import RonAppSdkSwift

/// A transport that only talks to nodes with the keys of these certificates, whoever signed them.
///
/// - Parameter pem: the certificates of nodes, including upcoming ones.
/// - Throws: `SdkConfigError` if it is not a certificate.
func pinnedTransport(_ pem: String) throws -> AsyncHTTPTransport {
    AsyncHTTPTransport(pinnedKeys: try PinnedKeys(certificates: pem))
}

/// A transport that trusts only these certificates, and none of the system's authorities.
///
/// - Parameter pem: a self-signed certificate of the node, or one of a private authority: a chain has to end in a root.
/// - Throws: `NIOSSLError` if it is not a certificate.
func privateTransport(_ pem: String) throws -> AsyncHTTPTransport {
    var encryption = TLSConfiguration.makeClientConfiguration()
    encryption.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))
    encryption.minimumTLSVersion = .tlsv13
    return AsyncHTTPTransport(tlsConfiguration: encryption)
}
