import Foundation
import Platform
import RonAppSdkSwift

/// Sends events to the app plane of a RON node: a POST below `/app`, with the event's id as idempotency key.
struct RonSender: EventSender {
    private let target: PublishTarget
    private let client: RonClient
    private let credential: CredentialSource

    /// - Parameters:
    ///   - target: a node.
    ///   - transport: carries requests; not closed here.
    ///   - metrics: receives its calls.
    ///   - credential: provides the target's token.
    /// - Throws: `SdkConfigError` if the client rejects the target's settings.
    init(
        _ target: PublishTarget, transport: any RonTransport, metrics: (any RonMetrics)? = nil,
        credential: @escaping CredentialSource
    ) throws {
        self.target = target
        self.credential = credential
        let whole = Int(target.timeout * 1000)
        client = try RonClient(
            config: RonConfig(
                baseUrl: target.url, overallTimeoutMs: whole, connectTimeoutMs: min(whole, 5_000), readTimeoutMs: whole,
                writeTimeoutMs: whole, allowInsecureHttp: target.allowsInsecureHTTP, transport: transport,
                metrics: metrics))
    }

    func send(_ event: OutgoingEvent) async -> SendOutcome {
        var headers = ["X-Steward-Event": event.event, "X-Steward-Delivery": "\(event.id)/\(event.attempt)"]
        let body: RawJSON
        do {
            body = try RawJSON(Data(event.body.utf8))
            if let name = target.token {
                guard let token = try await credential(name) else { throw PublishToken.missing(name) }
                headers["Authorization"] = try PublishToken.authorization(token, name)
            }
        } catch {
            return .notSent(reason: AnswerJudgement.line(explain(error)))
        }
        guard let path = Self.plain(target, event.path) else {
            return .refused(status: nil, reason: "the path \(AnswerJudgement.line(event.path)) cannot be read")
        }
        let response = await client.request(
            AppRequest(.post, path.isEmpty ? "/" : path, headers: headers, body: body, idempotencyKey: event.id),
            as: NoContent.self)
        if response.status != 0 { return AnswerJudgement.outcome(status: response.status, response.problem) }
        let problem = response.problem
        if problem?.hasCode("local_cancelled") == true { return .cancelled }
        let reason = AnswerJudgement.line(
            [problem?.code, problem?.message].compactMap { $0 }.joined(separator: ": "))
        // A local rejection is permanent.
        return problem?.kind == RonProblem.localKind
            ? .refused(status: nil, reason: reason) : .retry(after: nil, status: nil, reason: reason)
    }

    func unreachable() async -> String? {
        let answer = await client.request(AppRequest(.get, "/healthz"), as: NoContent.self)
        return answer.status == 0 ? answer.problem?.message ?? "no answer came" : nil
    }

    /// - Parameters:
    ///   - target: a node.
    ///   - path: from the rule, percent-encoded.
    /// - Returns: why events can never be sent there; nil if they can.
    static func problem(_ target: PublishTarget, path: String) -> String? {
        guard let path = plain(target, target.path + path) else { return "its percent-encoding cannot be read" }
        return AppPath.problem(path)
    }

    /// The full path, decoded, because the client percent-encodes it. `path` already has the target's prefix.
    private static func plain(_ target: PublishTarget, _ path: String) -> String? {
        ((target.facet.map { "\(target.facetPrefix)/\($0)" } ?? "") + path).removingPercentEncoding
    }
}
