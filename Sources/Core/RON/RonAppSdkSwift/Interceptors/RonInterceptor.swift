import Foundation

/// Looks at the requests and responses of a client on their way, and may change their headers
/// (docs/design/ron.md, "Decisions").
///
/// A client calls its interceptors for each request in the order in which ``RonConfig`` lists them, and for each response
/// in the reverse one, so that the first of them stands outermost. One that throws ends that call alone, with a local
/// problem; nothing has been sent if it was a request's.
///
/// Headers that prove who is calling (``InterceptedRequest/protectedHeaders``, and those that ``Redaction`` knows) are
/// not shown to an interceptor, and one that sets them ends the call, unless it asks for them by ``handlesCredentials``.
public protocol RonInterceptor: Sendable {
    /// Whether it sees and may change the headers that prove who is calling. Not so unless said otherwise.
    var handlesCredentials: Bool { get }

    /// Called before a request is sent.
    ///
    /// - Parameter request: What is about to be sent; its headers may be changed.
    /// - Throws: Whatever shall end this call; nothing is sent then.
    func intercept(request: inout InterceptedRequest) async throws

    /// Called when the head of a response is there.
    ///
    /// - Parameters:
    ///   - response: What the server answered; its headers may be changed.
    ///   - request: What was sent, as this interceptor may see it.
    /// - Throws: Whatever shall end this call; the response is dropped then.
    func intercept(response: inout InterceptedResponse, to request: InterceptedRequest) async throws
}

extension RonInterceptor {
    /// False: it neither sees nor changes the headers that prove who is calling.
    public var handlesCredentials: Bool { false }

    /// Leaves the request as it is.
    ///
    /// - Parameter request: What is about to be sent.
    /// - Throws: Nothing.
    public func intercept(request: inout InterceptedRequest) async throws {}

    /// Leaves the response as it is.
    ///
    /// - Parameters:
    ///   - response: What the server answered.
    ///   - request: What was sent.
    /// - Throws: Nothing.
    public func intercept(response: inout InterceptedResponse, to request: InterceptedRequest) async throws {}
}

/// A request as interceptors see it: complete, just before it is sent.
public struct InterceptedRequest: Sendable {
    /// Headers that only interceptors with ``RonInterceptor/handlesCredentials`` may set. In lower case.
    public static let protectedHeaders: Set<String> = [
        "authorization", "cookie", "proxy-authorization", "x-ron-passport", "x-ron-token",
    ]

    /// What it does, in upper case: `GET`.
    public let method: String
    /// Where it goes, with its query.
    public let url: URL
    /// The id under which server and client log it.
    public let requestId: String
    /// Its headers; names are the same whatever their case.
    public var headers: HeaderFields

    /// A request with all its parts; clients make them, and tests of interceptors.
    ///
    /// - Parameters:
    ///   - method: What it does, in upper case.
    ///   - url: Where it goes, with its query.
    ///   - requestId: The id under which server and client log it.
    ///   - headers: Its headers.
    public init(method: String, url: URL, requestId: String, headers: HeaderFields) {
        self.method = method
        self.url = url
        self.requestId = requestId
        self.headers = headers
    }
}

/// The head of a response as interceptors see it; its body comes after them.
public struct InterceptedResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// Its headers; names are the same whatever their case.
    public var headers: HeaderFields

    /// A response's head; clients make them, and tests of interceptors.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: Its headers.
    public init(status: Int, headers: HeaderFields) {
        self.status = status
        self.headers = headers
    }
}
