import Foundation

extension ScriptedServer.Answer {
    /// A complete answer as Anthropic's Messages API streams it, in pieces that split words.
    ///
    /// - Parameter stop: `end_turn`, `max_tokens`, `refusal`.
    package static func message(_ text: String, stop: String = "end_turn") -> Self {
        var events = [
            event(
                "message_start",
                #""message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-sonnet-4-6","#
                    + #""stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":900,"#
                    + #""cache_creation_input_tokens":0,"cache_read_input_tokens":100,"output_tokens":1}}"#),
            event("content_block_start", #""index":0,"content_block":{"type":"text","text":""}"#),
        ]
        var rest = Substring(text)
        while !rest.isEmpty {
            let piece = String(rest.prefix(37))
            rest = rest.dropFirst(37)
            events.append(
                event("content_block_delta", #""index":0,"delta":{"type":"text_delta","text":\#(quoted(piece))}"#))
        }
        events += [
            event("content_block_stop", #""index":0"#),
            event(
                "message_delta",
                #""delta":{"stop_reason":"\#(stop)","stop_sequence":null},"usage":{"output_tokens":200}"#),
            event("message_stop", ""),
        ]
        return .stream(events.map { Array($0.utf8) })
    }

    /// An error response of the service, in its own words.
    package static func complaint(
        _ status: Int, _ type: String, _ message: String = "as the test wants it", headers: [String: String] = [:]
    ) -> Self {
        .reply(
            status, #"{"type":"error","error":{"type":"\#(type)","message":"\#(message)"},"request_id":"req_1"}"#,
            headers: headers)
    }

    private static func event(_ type: String, _ rest: String) -> String {
        "event: \(type)\ndata: {\"type\":\"\(type)\"\(rest.isEmpty ? "" : "," + rest)}\n\n"
    }

    /// The text as a JSON string.
    package static func quoted(_ text: String) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: [text])) ?? Data("[\"\"]".utf8)
        return String(String(decoding: data, as: UTF8.self).dropFirst().dropLast())
    }
}
