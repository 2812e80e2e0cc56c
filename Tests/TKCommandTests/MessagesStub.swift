import Synchronization
import TestSupport

/// Anthropic's Messages API on loopback: streams its answers like the service, and records its requests.
///
/// The answer depends on the request: suggestions about the words "utilized" and "in order to", a council's points, a
/// team, or an answer to a question.
final class MessagesStub: Sendable {
    static let key = "sk-ant-stub-4711"

    private let server: ScriptedServer
    private let failures: Failures

    /// Returned by the next calls instead of an answer.
    private final class Failures: Sendable {
        private let state = Mutex<(left: Int, answer: ScriptedServer.Answer?)>((0, nil))

        func set(_ count: Int, _ answer: ScriptedServer.Answer) { state.withLock { $0 = (count, answer) } }

        func next() -> ScriptedServer.Answer? {
            state.withLock { state in
                guard state.left > 0 else { return nil }
                state.left -= 1
                return state.answer
            }
        }
    }

    var url: String { server.url }
    var requests: [ScriptedServer.Request] { server.requests }

    /// - Parameter own: the test's own answer to a request's body, with precedence over the stub's.
    init(_ own: @escaping @Sendable (String) -> String? = { _ in nil }) throws {
        let failures = Failures()
        self.failures = failures
        server = try ScriptedServer { request in
            guard request.headers["x-api-key"] == Self.key else {
                return .complaint(401, "authentication_error", "invalid x-api-key")
            }
            return failures.next() ?? .message(own(request.body) ?? Self.answer(to: request.body))
        }
    }

    /// The next calls are refused permanently, as for a request that the service does not understand.
    func refuse(_ count: Int) {
        fail(.complaint(400, "invalid_request_error", "the stub was told to refuse"), times: count)
    }

    /// The next calls are answered like this.
    func fail(_ answer: ScriptedServer.Answer, times count: Int = .max) { failures.set(count, answer) }

    // MARK: Answers

    static let answerText = "Begin with what the reader must do, then say why."

    private static func answer(to body: String) -> String {
        // The schema's first property shows what is requested; a question has no schema.
        guard body.contains("json_schema") else { return answerText }
        if body.contains("ADVISORS:") {
            return #"{"advisors":[{"id":"technical_writer","reason":"It is a manual."}],"story_type":"technical_docs"}"#
        }
        if body.contains(#""points""#) { return council(body) }
        if body.contains("What does the writer want") { return #"{"intent":"rewrite","confidence":0.9}"# }
        let isBatch = body.contains("advisor_id")
        let one = [
            #""quote":"utilized","before":"can be","replacement":"used","type":"improve","category":"clarity","#
                + #""priority":2,"confidence":0.9,"reason":"The plain word is shorter.""#,
            #""quote":"process data","before":"to","replacement":null,"type":"improve","category":"completeness","#
                + #""priority":3,"confidence":0.4,"reason":"Say which data.""#,
        ]
        let makers = isBatch ? ["technical_writer", "editor"] : ["technical_writer"]
        let items = zip(one, makers + makers).map { item, maker in
            isBatch ? "{\"advisor_id\":\"\(maker)\",\(item)}" : "{\(item)}"
        }
        return "{\"suggestions\":[\(items.joined(separator: ","))]}"
    }

    /// Technical writers accept what the others object to.
    private static func council(_ body: String) -> String {
        let stance = body.contains("technical writer") || body.contains("Technical Writer") ? 1 : -1
        return #"{"summary":"It is short.","points":[{"quote":"utilized","before":"can be","aspect":"clarity","#
            + #""stance":\#(stance),"claim":"The word weighs on the sentence."}]}"#
    }
}
