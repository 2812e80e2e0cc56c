import Foundation
import Platform
import TestSupport

/// An agent's end of `tk mcp`.
final class ContextClient {
    private let talk: Conversation
    private var nextID = 0

    /// Starts the server, and introduces itself as `tester`.
    ///
    /// - Parameter hasRoots: whether it answers the request for its roots (``tell(roots:)``).
    init(
        _ fixture: CommandFixture, _ arguments: [String] = [], revision: String = "2025-06-18", hasRoots: Bool = false
    ) async throws {
        talk = try Conversation(fixture, ["mcp"] + arguments)
        let abilities: [String: Any] = hasRoots ? ["roots": ["listChanged": true]] : [:]
        let reply = try await request(
            "initialize",
            [
                "protocolVersion": revision,
                "capabilities": abilities,
                "clientInfo": ["name": "tester", "version": "1"],
            ])
        guard let agreed = (reply["result"] as? [String: Any])?["protocolVersion"] as? String else {
            throw TestFailure("no handshake: \(reply)")
        }
        self.revision = agreed
        try send(["jsonrpc": "2.0", "method": "notifications/initialized"])
    }

    private(set) var revision = ""

    func send(_ message: Any) throws {
        let line = try JSONSerialization.data(withJSONObject: message)
        try raw(String(decoding: line, as: UTF8.self))
    }

    func raw(_ line: String) throws { try talk.types(line + "\n") }

    /// Sends a request, and returns its id.
    func start(_ method: String, _ parameters: [String: Any]) throws -> Int {
        nextID += 1
        try send(["jsonrpc": "2.0", "id": nextID, "method": method, "params": parameters])
        return nextID
    }

    func request(_ method: String, _ parameters: [String: Any] = [:]) async throws -> [String: Any] {
        try await reply(to: try start(method, parameters))
    }

    func reply(to id: Int) async throws -> [String: Any] {
        try await line("a reply to \(id)") { $0["id"] as? Int == id }
    }

    /// The first message like this.
    func line(_ what: String, _ isMeant: ([String: Any]) -> Bool) async throws -> [String: Any] {
        var found: [String: Any]?
        try await waitUntil("\(what) arrives") {
            found = try Self.messages(talk.output).first(where: isMeant)
            return found != nil
        }
        return found ?? [:]
    }

    /// Answers the next request for the roots.
    ///
    /// - Parameter addresses: nil for an error.
    func tell(roots addresses: [String]?) async throws {
        let asked = try await line("a request for the roots") {
            $0["method"] as? String == "roots/list" && $0["id"] as? Int ?? 0 > self.told
        }
        told = asked["id"] as? Int ?? 0
        var reply: [String: Any] = ["jsonrpc": "2.0", "id": told]
        reply["result"] = addresses.map { ["roots": $0.map { ["uri": $0, "name": "a root"] }] }
        if addresses == nil { reply["error"] = ["code": -32603, "message": "not now"] }
        try send(reply)
    }

    /// The id of the last request that ``tell(roots:)`` has answered.
    private var told = 0

    /// The value that a tool returns, or its complaint.
    func call(_ tool: String, _ arguments: [String: Any] = [:]) async throws -> (value: [String: Any], failure: String?)
    {
        let reply = try await request("tools/call", ["name": tool, "arguments": arguments])
        guard let result = reply["result"] as? [String: Any], let content = result["content"] as? [[String: Any]],
            let text = content.first?["text"] as? String
        else { throw TestFailure("no result of \(tool): \(reply)") }
        if result["isError"] as? Bool == true { return ([:], text) }
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        let structured = result["structuredContent"] as? [String: Any]
        guard revision == "2025-06-18" ? structured as NSDictionary? == value as NSDictionary : structured == nil else {
            throw TestFailure("text and value differ: \(result)")
        }
        return (value, nil)
    }

    /// The ids of all replies, after the end of the server.
    func ends() throws -> (status: Int32, replies: [Int]) {
        let result = try talk.ends()
        return (result.status, try Self.messages(result.output).compactMap { $0["id"] as? Int })
    }

    /// Batches count as their parts.
    private static func messages(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").dropLast(output.hasSuffix("\n") ? 0 : 1).flatMap { line -> [[String: Any]] in
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return value as? [[String: Any]] ?? [value as? [String: Any] ?? [:]]
        }
    }
}
