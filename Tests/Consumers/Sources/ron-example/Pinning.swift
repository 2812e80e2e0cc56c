import Foundation
import NIOSSL
import RonAppSdkSwift

/// A transport that speaks to nodes with the keys of these certificates alone, whoever vouches for them.
///
/// - Parameter pem: the certificates of nodes, the next ones included.
/// - Throws: `SdkConfigError` where it is no certificate.
func pinnedTransport(_ pem: String) throws -> AsyncHTTPTransport {
    AsyncHTTPTransport(pinnedKeys: try PinnedKeys(certificates: pem))
}

/// A transport that believes these certificates alone, and none of the system's authorities.
///
/// - Parameter pem: a certificate that the node has signed itself, or that of an authority of one's own: a chain has to
///   end in a root.
/// - Throws: `NIOSSLError` where it is no certificate.
func privateTransport(_ pem: String) throws -> AsyncHTTPTransport {
    var encryption = TLSConfiguration.makeClientConfiguration()
    encryption.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))
    encryption.minimumTLSVersion = .tlsv13
    return AsyncHTTPTransport(tlsConfiguration: encryption)
}
