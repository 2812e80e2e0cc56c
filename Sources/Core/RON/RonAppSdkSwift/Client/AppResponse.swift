import Foundation

/// The result of a call: data or a problem, never both (docs/design/ron.md, "Decisions").
public struct AppResponse<T> {
    /// The server's status; 0 if there was no answer, or nothing was sent.
    public var status: Int
    /// Whether the call succeeded: a status from 200 to 299, and a readable body.
    public var ok: Bool
    /// The answer's headers, with lower-case names; multiple values of one name are joined by a comma and a space.
    public var headers: [String: String]
    /// The decoded JSON of the answer; nil if ``ok`` is false, or if a successful answer has no body.
    public var data: T?
    /// The raw body of the answer; nil if there was no answer, or its body exceeded the limit.
    public var raw: Data?
    /// The problem; nil exactly if ``ok`` is true.
    public var problem: RonProblem?

    /// Creates an answer, for the client, and for tests and interceptors of other packages.
    ///
    /// - Parameters:
    ///   - status: The server's status, 0 if there was no answer.
    ///   - ok: Whether the call succeeded.
    ///   - headers: The answer's headers, with lower-case names.
    ///   - data: The decoded JSON of the answer.
    ///   - raw: The raw body of the answer.
    ///   - problem: The problem.
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

    /// The data of a successful call.
    ///
    /// - Returns: The data.
    /// - Throws: ``RonSdkError/problem(_:)`` if the call failed; ``RonSdkError/unknown`` if it succeeded without a
    ///   body.
    public func get() throws(RonSdkError) -> T {
        if let problem { throw .problem(problem) }
        guard let data else { throw .unknown }
        return data
    }

    /// The same answer with transformed data.
    ///
    /// - Parameter transform: Transforms the data.
    /// - Returns: The answer.
    public func map<U>(_ transform: (T) -> U) -> AppResponse<U> {
        AppResponse<U>(
            status: status, ok: ok, headers: headers, data: data.map(transform), raw: raw, problem: problem)
    }
}

extension AppResponse: Sendable where T: Sendable {}

/// For calls whose answer has no body, or an irrelevant one: decodes from any successful answer.
public struct NoContent: Codable, Sendable, Equatable {
    /// Creates the value.
    public init() {}

    /// Decodes nothing.
    ///
    /// - Parameter decoder: Ignored.
    public init(from decoder: any Decoder) {}
}
