import Foundation
import Glibc
import Synchronization
import TestSupport

/// Anthropic's Messages API on loopback: streams its answers as the service does, and keeps what it was asked.
///
/// What it says depends on what it is asked for: suggestions about the words "utilized" and "in order to", a council's
/// points, a team, or an answer to a question.
final class MessagesStub: Sendable {
    struct Request: Sendable {
        var path: String
        /// By lower-case name.
        var headers: [String: String]
        var body: String
    }

    static let key = "sk-ant-stub-4711"

    let port: Int
    private let seen = Mutex<[Request]>([])
    private let failures = Mutex<Int>(0)

    var url: String { "http://127.0.0.1:\(port)" }
    var requests: [Request] { seen.withLock { $0 } }

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                bind(listener, general, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, general, &length) == 0
            }
        }
        guard isBound else { throw TestFailure("cannot listen on loopback") }
        port = Int(UInt16(bigEndian: address.sin_port))
        // The thread and its socket live as long as the process: a test may end while a connection is being taken.
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    return
                }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    /// The next calls are refused for good, as for a request that the service does not understand.
    func refuse(_ count: Int) { failures.withLock { $0 = count } }

    // MARK: HTTP

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        guard let request = Self.read(connection) else { return }
        seen.withLock { $0.append(request) }
        guard request.headers["x-api-key"] == Self.key else {
            return Self.error(401, "authentication_error", "invalid x-api-key", connection)
        }
        let isRefused = failures.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        if isRefused { return Self.error(400, "invalid_request_error", "the stub was told to refuse", connection) }
        Self.stream(Self.answer(to: request.body), connection)
    }

    private static func error(_ status: Int, _ type: String, _ message: String, _ connection: Int32) {
        let body = #"{"type":"error","error":{"type":"\#(type)","message":"\#(message)"},"request_id":"req_stub"}"#
        write(
            "HTTP/1.1 \(status) X\r\ncontent-type: application/json\r\ncontent-length: \(body.utf8.count)\r\n"
                + "connection: close\r\n\r\n\(body)", connection)
    }

    private static func stream(_ text: String, _ connection: Int32) {
        write(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n"
                + "request-id: req_stub\r\n\r\n", connection)
        func event(_ type: String, _ rest: String) {
            let event = "event: \(type)\ndata: {\"type\":\"\(type)\"\(rest.isEmpty ? "" : "," + rest)}\n\n"
            write("\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n", connection)
        }
        event(
            "message_start",
            #""message":{"id":"msg_stub","type":"message","role":"assistant","content":[],"model":"claude-sonnet-4-6","#
                + #""stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":900,"#
                + #""cache_creation_input_tokens":0,"cache_read_input_tokens":100,"output_tokens":1}}"#)
        event("content_block_start", #""index":0,"content_block":{"type":"text","text":""}"#)
        var rest = text[...]
        while !rest.isEmpty {
            let piece = rest.prefix(40)
            rest = rest.dropFirst(40)
            event("content_block_delta", #""index":0,"delta":{"type":"text_delta","text":\#(quoted(String(piece)))}"#)
        }
        event("content_block_stop", #""index":0"#)
        event(
            "message_delta", #""delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":200}"#)
        event("message_stop", "")
        write("0\r\n\r\n", connection)
    }

    private static func quoted(_ text: String) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: [text])) ?? Data("[\"\"]".utf8)
        return String(String(decoding: data, as: UTF8.self).dropFirst().dropLast())
    }

    private static func write(_ text: String, _ connection: Int32) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(connection, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    private static func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        func more() -> Bool {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            bytes += buffer[..<count]
            return true
        }
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    if parts.count == 2 {
                        headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
                    }
                }
                let head = text[..<end.upperBound].utf8.count
                let length = headers["content-length"].flatMap { Int($0) } ?? 0
                while bytes.count < head + length { guard more() else { return nil } }
                let path = lines.first?.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                return Request(
                    path: path, headers: headers, body: String(decoding: bytes[head..<(head + length)], as: UTF8.self))
            }
            guard more() else { return nil }
        }
    }

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
