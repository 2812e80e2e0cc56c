import RonAppSdkSwift
import Testing
import ron_mock_plane

/// A fault, and the expected result of a call that meets it.
struct FaultCase: Sendable, CustomTestStringConvertible {
    let fault: WireFault
    var query: [String: String] = [:]
    var verb: HTTPVerb = .get
    /// Milliseconds, if the call should time out.
    var timeout: Int?
    let status: Int
    /// Empty if the fault does not determine it.
    let code: String
    /// Empty likewise.
    var kind = RonProblem.transportKind
    var retryable: Bool?
    var retryAfterMs: Int?

    var testDescription: String { fault.rawValue }

    /// No answer came.
    static func lost(_ fault: WireFault, verb: HTTPVerb = .get) -> FaultCase {
        FaultCase(fault: fault, verb: verb, status: 0, code: "local_network_failure", retryable: true)
    }

    /// The call timed out.
    static func late(_ fault: WireFault, _ query: [String: String] = [:]) -> FaultCase {
        FaultCase(fault: fault, query: query, timeout: 400, status: 0, code: "local_timeout", retryable: true)
    }

    /// An answer came, and cannot be read.
    static func unreadable(_ fault: WireFault, status: Int = 200, retryable: Bool = false) -> FaultCase {
        FaultCase(fault: fault, status: status, code: "transport_error", retryable: retryable)
    }

    static let all: [FaultCase] = [
        .late(.delay, ["ms": "600000"]), .late(.silence), .late(.headOnly), .late(.drip, ["ms": "60000"]),
        .lost(.reset), .lost(.resetEarly, verb: .post), .lost(.close), .lost(.half), .lost(.halfChunked),
        .lost(.garbage),
        .lost(.lost, verb: .post),
        .unreadable(.type), .unreadable(.syntax), .unreadable(.shape),
        .unreadable(.redirect, status: 302), .unreadable(.tooLarge, status: 413),
        FaultCase(
            fault: .rateLimited, status: 429, code: "rate_limited", kind: "", retryable: true, retryAfterMs: 1_500),
        FaultCase(fault: .rateLimitedText, status: 429, code: "transport_error", retryable: true, retryAfterMs: 2_000),
        FaultCase(fault: .overloaded, status: 503, code: "", kind: "", retryable: true),
    ]
}
