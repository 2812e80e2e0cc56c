import Foundation

/// What came of a call: data or a problem, never both (docs/design/ron.md, "Decisions").
public struct AppResponse<T> {
    /// The server's status; 0 where no answer came, or nothing was sent.
    public var status: Int
    /// Whether the server did what it was asked to: a status from 200 to 299, and a body that could be read.
    public var ok: Bool
    /// The answer's headers, names in lower case; values of one name are joined by a comma and a space.
    public var headers: [String: String]
    /// What the answer's JSON says; nil where ``ok`` is false, and where an answer of success has no body.
    public var data: T?
    /// The answer's body as it came; nil where no answer came, or where its body was longer than the limit.
    public var raw: Data?
    /// What went wrong; nil exactly where ``ok`` is true.
    public var problem: RonProblem?

    /// Makes an answer; the client does, and so do tests and interceptors of other packages.
    ///
    /// - Parameters:
    ///   - status: The server's status, 0 where no answer came.
    ///   - ok: Whether the server did what it was asked to.
    ///   - headers: The answer's headers, names in lower case.
    ///   - data: What the answer's JSON says.
    ///   - raw: The answer's body as it came.
    ///   - problem: What went wrong.
    public init(
        status: Int, ok: Bool, headers: [String: String] = [:], data: T? = nil, raw: Data? = nil,
        problem: RonProblem? = nil
    ) {
        self.status = status
        self.ok = ok
        self.headers = headers
        self.data = data
        self.raw = raw
        self.problem = problem
    }

    /// The data of a call that succeeded.
    ///
    /// - Returns: The data.
    /// - Throws: ``RonSdkError/problem(_:)``, where the call failed; ``RonSdkError/unknown``, where it succeeded without
    ///   a body.
    public func get() throws(RonSdkError) -> T {
        if let problem { throw .problem(problem) }
        guard let data else { throw .unknown }
        return data
    }

    /// The same answer with other data.
    ///
    /// - Parameter transform: Makes the other data.
    /// - Returns: The answer.
    public func map<U>(_ transform: (T) -> U) -> AppResponse<U> {
        AppResponse<U>(
            status: status, ok: ok, headers: headers, data: data.map(transform), raw: raw, problem: problem)
    }
}

extension AppResponse: Sendable where T: Sendable {}

/// For calls whose answer has no body, or none that anybody reads: it is made of any answer of success.
public struct NoContent: Codable, Sendable, Equatable {
    /// Makes it.
    public init() {}

    /// Reads nothing.
    ///
    /// - Parameter decoder: Not looked at.
    public init(from decoder: any Decoder) {}
}
