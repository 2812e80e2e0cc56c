import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Why there was no response, or not a complete one.
package struct HTTPFailure: Error, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// A timeout expired.
        case timeout
        /// No connection: the name is unknown, or nothing listens there.
        case unreachable
        /// The connection ended early, or the data is not HTTP.
        case reset
        /// No trusted connection; retrying does not help.
        case tls
        /// The task was cancelled.
        case cancelled
        /// The body is longer than its limit.
        case tooLong
        /// Anything else.
        case other
    }

    package let kind: Kind
    /// Whether there was no connection, so that nothing was sent.
    package let isUnconnected: Bool
    /// What went wrong, for people.
    package let reason: String
    /// The library's description, for logs.
    package let description: String

    package init(_ kind: Kind, _ reason: String) {
        (self.kind, self.reason, description) = (kind, reason, reason)
        isUnconnected = false
    }

    /// Classifies an error of AsyncHTTPClient or NIO.
    package init(_ error: any Error) {
        if let failure = error as? HTTPFailure {
            self = failure
            return
        }
        description = String(describing: error)
        (kind, isUnconnected, reason) = Self.classify(error)
    }

    private static func classify(_ error: any Error) -> (Kind, isUnconnected: Bool, reason: String) {
        switch error {
        case is CancellationError: (.cancelled, false, "cancelled")
        case let error as HTTPClientError: classify(error)
        case is HTTPParserError: (.reset, false, "the server does not speak HTTP")
        case let error as IOError:
            (kind(of: error.errnoCode), error.errnoCode == ECONNREFUSED, String(cString: strerror(error.errnoCode)))
        case ChannelError.connectTimeout: (.timeout, true, "the connection failed (\(error))")
        case is ChannelError: (.reset, true, "the connection failed (\(error))")
        case let error as NIOConnectionError:
            (
                isTimeout(error) ? .timeout : .unreachable, true,
                error.dnsAError != nil || error.dnsAAAAError != nil
                    ? "the name of the server cannot be resolved" : "nothing answers there"
            )
        // A server that hangs up during the handshake, for example because it restarts, says nothing about trust.
        case NIOSSLError.uncleanShutdown, NIOSSLError.handshakeFailed(.syscallError), is NIOSSLCloseTimedOutError:
            (.reset, false, "the server closed the connection")
        case NIOSSLError.handshakeFailed(.sslError(let reasons)) where reasons.contains(.eofDuringHandshake):
            (.reset, false, "the server closed the connection")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError, is NIOTLSUnwrappingError:
            (.tls, false, explainTLS(String(describing: error)))
        default: (.other, false, String(String(describing: error).prefix(200)))
        }
    }

    private static func classify(_ error: HTTPClientError) -> (Kind, isUnconnected: Bool, reason: String) {
        switch error {
        case .readTimeout: (.timeout, false, "the server fell silent")
        case .connectTimeout, .httpProxyHandshakeTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
            (.timeout, true, "no connection came about in time")
        case .deadlineExceeded, .writeTimeout: (.timeout, false, error.shortDescription)
        case .cancelled: (.cancelled, false, error.shortDescription)
        case .remoteConnectionClosed: (.reset, false, "the server closed the connection")
        case .uncleanShutdown: (.reset, false, error.shortDescription)
        case .proxyAuthenticationRequired: (.other, false, "the proxy asks for a name and a password")
        default: (.other, false, error.shortDescription)
        }
    }

    private static func kind(of code: CInt) -> Kind {
        switch code {
        case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL: .unreachable
        case ETIMEDOUT: .timeout
        case ECONNRESET, EPIPE, ECONNABORTED: .reset
        default: .other
        }
    }

    /// Whether every address of the server took too long, and nothing else failed.
    private static func isTimeout(_ error: NIOConnectionError) -> Bool {
        error.dnsAError == nil && error.dnsAAAAError == nil && !error.connectionErrors.isEmpty
            && error.connectionErrors.allSatisfy { classify($0.error).0 == .timeout }
    }

    private static func explainTLS(_ text: String) -> String {
        // BoringSSL's own term, without the source location: CERTIFICATE_VERIFY_FAILED.
        let word = text.firstMatch(of: /:OPENSSL_internal:([A-Z0-9_]+)/)?.output.1
        if let word, ["TLSV1_ALERT_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL"].contains(word) {
            return "the server offers no TLS 1.2, and older versions are not secure, so nothing was sent to it"
        }
        let reason = word.map { $0.lowercased().replacing("_", with: " ") } ?? String(text.prefix(200))
        return "no trusted connection came about: \(reason)"
    }
}
