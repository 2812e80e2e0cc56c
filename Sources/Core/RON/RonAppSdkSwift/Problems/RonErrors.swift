/// An unusable client configuration: no base URL, insecure HTTP without consent, a malformed number
/// (docs/design/ron.md, "Decisions").
public struct SdkConfigError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The invalid field of ``RonConfig``, or environment variable.
    public let setting: String
    /// The problem, and the remedy; without credentials.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - setting: The invalid field or environment variable.
    ///   - message: The problem, and the remedy.
    public init(setting: String, message: String) {
        self.setting = setting
        self.message = message
    }

    /// Setting and message.
    public var description: String { "\(setting): \(message)" }
}

/// An invalid request from the caller: nothing was sent.
///
/// Calls that return an ``AppResponse`` never throw it: there it is a problem of the kind `local`.
public struct LocalNetworkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The code, as in ``RonProblem/code``; begins with `local_`.
    public let code: String
    /// The problem with the request, and the remedy; without credentials.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The code; begins with `local_`.
    ///   - message: The problem with the request, and the remedy.
    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message.
    public var description: String { "\(code): \(message)" }

    /// The same error as a problem, which is not retryable.
    public var problem: RonProblem {
        RonProblem(code: code, message: message, kind: RonProblem.localKind, status: 0, retryable: false)
    }
}

/// The error of throwing calls, and of ``AppResponse`` when an app unwraps it.
public enum RonSdkError: Error, Sendable, Equatable {
    /// The configuration is unusable.
    case config(SdkConfigError)
    /// A problem of the server, the network, or the client.
    case problem(RonProblem)
    /// The answer does not have the expected type; the text gives the place.
    case decoding(String)
    /// Success without data, where data was expected.
    case unknown
}
