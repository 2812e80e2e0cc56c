import Foundation

/// Inspects the requests and responses of a client, and may change their headers (docs/design/ron.md, "Decisions").
///
/// A client calls its interceptors for each request in the order in which ``RonConfig`` lists them, and for each
/// response in reverse, so that the first of them is outermost. An interceptor that throws ends only that call, with a
/// local problem; if it threw for a request, nothing has been sent.
///
/// Headers with credentials (``InterceptedRequest/protectedHeaders``, and those known to ``Redaction``) are hidden from
/// an interceptor, and setting one ends the call, unless the interceptor opts in with ``handlesCredentials``.
public protocol RonInterceptor: Sendable {
    /// Whether it sees and may change headers with credentials. False by default.
    var handlesCredentials: Bool { get }

    /// Called before a request is sent.
    ///
    /// - Parameter request: The request; its headers may be changed.
    /// - Throws: Any error to end this call; nothing is sent then.
    func intercept(request: inout InterceptedRequest) async throws

    /// Called when the head of a response has arrived.
    ///
    /// - Parameters:
    ///   - response: The response; its headers may be changed.
    ///   - request: The request, as visible to this interceptor.
    /// - Throws: Any error to end this call; the response is dropped then.
    func intercept(response: inout InterceptedResponse, to request: InterceptedRequest) async throws
}

extension RonInterceptor {
    /// False: it neither sees nor changes headers with credentials.
    public var handlesCredentials: Bool { false }

    /// Leaves the request unchanged.
    ///
    /// - Parameter request: The request.
    /// - Throws: Nothing.
    public func intercept(request: inout InterceptedRequest) async throws {}

    /// Leaves the response unchanged.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request.
    /// - Throws: Nothing.
    public func intercept(response: inout InterceptedResponse, to request: InterceptedRequest) async throws {}
}

/// A request as seen by interceptors: complete, just before it is sent.
public struct InterceptedRequest: Sendable {
    /// Headers that only interceptors with ``RonInterceptor/handlesCredentials`` may set. In lower case.
    public static let protectedHeaders: Set<String> = [
        "authorization", "cookie", "proxy-authorization", "x-ron-passport", "x-ron-token",
    ]

    /// The method, in upper case: `GET`.
    public let method: String
    /// The URL, with its query.
    public let url: URL
    /// The id under which server and client log it.
    public let requestId: String
    /// Its headers; names are case-insensitive.
    public var headers: HeaderFields

    /// Creates a request, for clients and for tests of interceptors.
    ///
    /// - Parameters:
    ///   - method: The method, in upper case.
    ///   - url: The URL, with its query.
    ///   - requestId: The id under which server and client log it.
    ///   - headers: Its headers.
    public init(method: String, url: URL, requestId: String, headers: HeaderFields) {
        self.method = method
        self.url = url
        self.requestId = requestId
        self.headers = headers
    }
}

/// The head of a response as seen by interceptors; its body is read afterwards.
public struct InterceptedResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// Its headers; names are case-insensitive.
    public var headers: HeaderFields

    /// Creates a response's head, for clients and for tests of interceptors.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: Its headers.
    public init(status: Int, headers: HeaderFields) {
        self.status = status
        self.headers = headers
    }
}
