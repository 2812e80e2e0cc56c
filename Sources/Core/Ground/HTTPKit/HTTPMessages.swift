import AsyncHTTPClient
import Foundation
import NIOCore

/// A request and its time limits.
package struct HTTPRequest: Sendable {
    package var method = "GET"
    package var url: URL
    package var headers: [(String, String)] = []
    package var body: Data?
    /// Until the head of the response, or its last byte if it is read as a whole; nil for no limit.
    package var timeout: Duration?
    package var route: HTTPRoute

    package init(
        method: String = "GET", url: URL, headers: [(String, String)] = [], body: Data? = nil,
        timeout: Duration? = nil, route: HTTPRoute
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.route = route
    }
}

/// The parameters of a connection. Requests with equal routes share connections.
package struct HTTPRoute: Sendable, Hashable {
    /// Until the connection is established, including TLS; nil for no limit.
    package var connectTimeout: Duration?
    /// The longest silence while waiting for a response or reading it; nil for no limit.
    package var readTimeout: Duration?
    /// The longest standstill while sending a request; nil for no limit.
    package var writeTimeout: Duration?
    package var proxy: HTTPProxy?
    /// Addresses of hosts that need no lookup.
    package var addresses: [String: String] = [:]

    package init(connectTimeout: Duration? = nil, readTimeout: Duration? = nil, writeTimeout: Duration? = nil) {
        self.connectTimeout = connectTimeout
        self.readTimeout = readTimeout
        self.writeTimeout = writeTimeout
    }
}

/// An HTTP proxy.
package struct HTTPProxy: Sendable, Hashable {
    package let host: String
    package let port: Int
    package let user: String?
    package let password: String?

    package init(host: String, port: Int, user: String?, password: String?) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }
}

/// A response whose head has arrived.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let headers: [(String, String)]
    package let body: HTTPBody

    /// The first header of that name, case-insensitive.
    package func header(_ name: String) -> String? {
        headers.first { $0.0.lowercased() == name.lowercased() }?.1
    }
}

/// The body of a response, readable once, in pieces; a slow reader slows down the server. Throws ``HTTPFailure``.
/// Dropping it unread closes the connection.
package struct HTTPBody: AsyncSequence, Sendable {
    let base: HTTPClientResponse.Body

    package func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    package struct Iterator: AsyncIteratorProtocol {
        var base: HTTPClientResponse.Body.AsyncIterator

        package mutating func next() async throws -> [UInt8]? {
            do {
                return try await base.next(isolation: #isolation).map { Array($0.readableBytesView) }
            } catch {
                throw HTTPFailure(error)
            }
        }
    }
}

extension AsyncSequence where Element == [UInt8] {
    /// All bytes of a body.
    ///
    /// - Parameters:
    ///   - limit: The most bytes to read.
    ///   - cuts: Whether to truncate a longer body.
    /// - Throws: ``HTTPFailure`` of the kind `tooLong` for a longer body unless it is truncated; errors from reading
    ///   the body.
    package func bytes(upTo limit: Int, cuts: Bool = false) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in self {
            bytes += piece
            if bytes.count > limit {
                guard cuts else { throw HTTPFailure(.tooLong, "the answer is longer than \(limit) bytes") }
                return Array(bytes.prefix(limit))
            }
        }
        return bytes
    }
}
