import Synchronization
import TestSupport

/// Anthropic's Messages API on loopback: streams its answers as the service does, and keeps what it was asked.
///
/// What it says depends on what it is asked for: suggestions about the words "utilized" and "in order to", a council's
/// points, a team, or an answer to a question.
final class MessagesStub: Sendable {
    static let key = "sk-ant-stub-4711"

    private let server: ScriptedServer
    private let failures: Failures

    /// How many of the next calls are refused.
    private final class Failures: Sendable {
        let left = Mutex(0)

        func take() -> Bool {
            left.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
        }
    }

    var url: String { server.url }
    var requests: [ScriptedServer.Request] { server.requests }

    init() throws {
        let failures = Failures()
        self.failures = failures
        server = try ScriptedServer { request in
            guard request.headers["x-api-key"] == Self.key else {
                return .complaint(401, "authentication_error", "invalid x-api-key")
            }
            if failures.take() { return .complaint(400, "invalid_request_error", "the stub was told to refuse") }
            return .message(Self.answer(to: request.body))
        }
    }

    /// The next calls are refused for good, as for a request that the service does not understand.
    func refuse(_ count: Int) { failures.left.withLock { $0 = count } }

    // MARK: Answers

    static let answerText = "Begin with what the reader must do, then say why."

    private static func answer(to body: String) -> String {
        // The schema's first property tells what is wanted; a question has no schema.
        guard body.contains("json_schema") else { return answerText }
        if body.contains("ADVISORS:") {
            return #"{"advisors":[{"id":"technical_writer","reason":"It is a manual."}],"story_type":"technical_docs"}"#
        }
        if body.contains(#""points""#) { return council(body) }
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

    /// Technical writers are content with what the others mind.
    private static func council(_ body: String) -> String {
        let stance = body.contains("technical writer") || body.contains("Technical Writer") ? 1 : -1
        return #"{"summary":"It is short.","points":[{"quote":"utilized","before":"can be","aspect":"clarity","#
            + #""stance":\#(stance),"claim":"The word weighs on the sentence."}]}"#
    }
}
