/// A configuration that no client can be made of: no base URL, insecure HTTP without consent, a malformed number
/// (docs/design/ron.md, "Decisions").
public struct SdkConfigError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The field of ``RonConfig``, or the environment variable, that is wrong.
    public let setting: String
    /// What is wrong with it, and what to do; without credentials.
    public let message: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - setting: The field or environment variable that is wrong.
    ///   - message: What is wrong with it, and what to do.
    public init(setting: String, message: String) {
        self.setting = setting
        self.message = message
    }

    /// Setting and message.
    public var description: String { "\(setting): \(message)" }
}

/// A request that cannot be made of what the caller gave: nothing was sent.
///
/// Calls that answer with an ``AppResponse`` never throw it: there it is a problem of the kind `local`.
public struct LocalNetworkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The code, as in ``RonProblem/code``; begins with `local_`.
    public let code: String
    /// What is wrong with the request, and what to do; without credentials.
    public let message: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The code; begins with `local_`.
    ///   - message: What is wrong with the request, and what to do.
    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message.
    public var description: String { "\(code): \(message)" }

    /// The same as a problem; to send the same once more makes no sense.
    public var problem: RonProblem {
        RonProblem(code: code, message: message, kind: RonProblem.localKind, status: 0, retryable: false)
    }
}

/// What calls that throw throw, and what an app throws when it makes an error of an ``AppResponse``.
public enum RonSdkError: Error, Sendable, Equatable {
    /// The configuration is of no use.
    case config(SdkConfigError)
    /// The server, the way to it, or the client has a problem.
    case problem(RonProblem)
    /// What came is not what was expected; the text says where.
    case decoding(String)
    /// Success without data, where data was expected.
    case unknown
}
