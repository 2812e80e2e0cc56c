import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension TransportError {
    /// What an error of AsyncHTTPClient or NIO means.
    init(explaining error: any Error) {
        let kind: Kind =
            switch error {
            case let error as TransportError: error.kind
            case is CancellationError: .cancelled
            case let error as HTTPClientError: Self.kind(of: error)
            case let error as NIOConnectionError:
                Self.isTimeout(error) ? .timeout : .unreachable
            case let error as ChannelError:
                if case .connectTimeout = error { .timeout } else { .reset }
            case let error as IOError: Self.kind(of: error)
            case is HTTPParserError: .reset
            case NIOSSLError.uncleanShutdown: .reset
            case NIOSSLError.handshakeFailed(let reason): Self.kind(of: reason)
            case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError, is NIOTLSUnwrappingError: .tls
            default: .other
            }
        self.init(kind, (error as? TransportError)?.text ?? String(describing: error))
    }

    private static func kind(of error: HTTPClientError) -> Kind {
        switch error {
        case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout,
            .httpProxyHandshakeTimeout, .getConnectionFromPoolTimeout:
            .timeout
        case .cancelled: .cancelled
        case .remoteConnectionClosed, .uncleanShutdown: .reset
        default: .other
        }
    }

    /// A peer that hangs up while keys are agreed on, as one that is started anew, says nothing of trust.
    private static func kind(of error: BoringSSLError) -> Kind {
        switch error {
        case .syscallError: .reset
        case .sslError(let reasons) where reasons.contains(.eofDuringHandshake): .reset
        default: .tls
        }
    }

    private static func kind(of error: IOError) -> Kind {
        switch error.errnoCode {
        case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL: .unreachable
        case ETIMEDOUT: .timeout
        case ECONNRESET, EPIPE, ECONNABORTED: .reset
        default: .other
        }
    }

    /// Whether all that failed of a connection is that it took too long.
    private static func isTimeout(_ error: NIOConnectionError) -> Bool {
        let causes = error.connectionErrors.map(\.error)
        guard error.dnsAError == nil, error.dnsAAAAError == nil, !causes.isEmpty else { return false }
        return causes.allSatisfy { cause in
            if case ChannelError.connectTimeout = cause {
                true
            } else {
                TransportError(explaining: cause).kind == .timeout
            }
        }
    }
}
