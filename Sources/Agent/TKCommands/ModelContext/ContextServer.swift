import Platform
import TKCore

/// The Model Context Protocol: the handshake, and requests (docs/editors.md, "Agents"). What is asked for is done by
/// ``ContextTools``.
actor ContextServer {
    /// Supported revisions of the protocol, the newest last.
    static let revisions = ["2024-11-05", "2025-03-26", "2025-06-18"]

    private var folders: ServedFolders
    private let examiner: DraftExaminer
    private let givenAuthor: String?
    private let connection: ClientConnection
    /// Drafts are read, and findings written, one call at a time.
    private let pool = BlockingPool("review")
    /// Agreed with the client; nil before `initialize`.
    private var revision: String?
    private var author: String
    private var running: [String: Task<Void, Never>] = [:]
    /// Whether the client tells its roots.
    private var hasRoots = false
    /// The number of requests for them.
    private var asked = 0
    /// The newest request, until it is answered.
    private var asking: Task<Void, Never>?

    /// - Parameter author: of what is proposed; nil for what the client calls itself.
    init(folders: ServedFolders, examiner: DraftExaminer, author: String?, connection: ClientConnection) {
        (self.folders, self.examiner) = (folders, examiner)
        givenAuthor = author
        self.author = author ?? "agent"
        self.connection = connection
    }

    // MARK: Messages

    /// Handles a message. A request is answered later, by a task, so that it can be cancelled.
    func receive(_ message: MessageReader.Message) async {
        switch message {
        case .invalid(let reason):
            await connection.reply(to: .null, .failure(ReplyError(code: -32700, message: reason)))
        // The only revision with batches.
        case .value(.array(let batch)) where revision == "2025-03-26" && !batch.isEmpty:
            let id: JSON = .string("batch \(batch.first?["id"]?.sent ?? "")")
            start(id) {
                var replies: [JSON] = []
                for one in batch {
                    if let reply = await self.answer(one) { replies.append(reply) }
                }
                return replies.isEmpty ? nil : .array(replies)
            }
        case .value(let json):
            if let id = json["id"], json["method"]?.text != nil, json["method"]?.text != "initialize" {
                start(id) { await self.answer(json) }
            } else if let reply = await answer(json) {
                await connection.send(reply)
            }
        }
    }

    /// Waits for the requests that are not answered yet.
    func finish() async {
        for task in running.values { await task.value }
    }

    private func start(_ id: JSON, _ body: @escaping @Sendable () async -> JSON?) {
        running[id.sent] = Task {
            if let reply = await body() { await connection.send(reply) }
            running[id.sent] = nil
        }
    }

    /// - Returns: nil for what gets no reply: a notification, a reply, and a request that was cancelled.
    private func answer(_ json: JSON) async -> JSON? {
        let id = json["id"] ?? .null
        guard let method = json["method"]?.text else {
            if json["result"] != nil || json["error"] != nil {
                _ = connection.deliver(reply: json)
                return nil
            }
            return ClientConnection.reply(to: id, .failure(Self.noRequest("it has no method")))
        }
        let parameters = json["params"] ?? .null
        guard json["id"] != nil else {
            switch method {
            case "notifications/cancelled": if let id = parameters["requestId"] { running[id.sent]?.cancel() }
            case "notifications/initialized", "notifications/roots/list_changed": askForRoots()
            default: break
            }
            return nil
        }
        guard id.text != nil || id.integer != nil else {
            return ClientConnection.reply(to: .null, .failure(Self.noRequest("its id is no string and no number")))
        }
        do {
            let result = try await reply(method, parameters)
            try Task.checkCancellation()
            return ClientConnection.reply(to: id, .success(result))
        } catch is CancellationError {
            return nil
        } catch let error as ReplyError {
            return ClientConnection.reply(to: id, .failure(error))
        } catch {
            return ClientConnection.reply(to: id, .failure(ReplyError(code: -32603, message: explain(error))))
        }
    }

    private static func noRequest(_ why: String) -> ReplyError {
        ReplyError(code: -32600, message: "not a request: \(why)")
    }

    // MARK: Folders

    private func askForRoots() {
        guard hasRoots else { return }
        asked += 1
        let (connection, number) = (connection, asked)
        asking = Task {
            let reply = await connection.request("roots/list", .object([]))
            self.take(roots: reply, number)
        }
    }

    /// Those of the newest request. A client that cannot tell them keeps those that it has told.
    private func take(roots reply: Result<JSON, ReplyError>?, _ number: Int) {
        guard number == asked else { return }
        asking = nil
        guard case .success(let value)? = reply, let roots = value["roots"]?.elements else { return }
        folders.roots = roots.compactMap { $0["uri"]?.text.flatMap(FileURI.path) }
    }

    /// Runs a tool on the drafts. Waits for the roots that have been asked for, but not for ever: there are clients that
    /// answer nothing while they wait themselves.
    private func withTools<R: Sendable>(_ body: @escaping @Sendable (ContextTools) throws -> R) async throws -> R {
        if let asking {
            let number = asked
            let isTold: Void? = try await TimeLimit(Self.patience).run { await asking.value }
            if isTold == nil, number == asked { self.asking = nil }
        }
        let (folders, examiner) = (folders, examiner)
        return try await pool.run {
            try Task.checkCancellation()
            return try body(ContextTools(shelf: folders.shelf(), examiner: examiner))
        }
    }

    private static let patience: Duration = .seconds(5)

    // MARK: Requests

    private func reply(_ method: String, _ parameters: JSON) async throws -> JSON {
        switch method {
        case "initialize": return try initialize(parameters)
        case "ping": return .object([])
        default: break
        }
        guard revision != nil || !Self.methods.contains(method) else {
            throw Self.noRequest("send `initialize` first")
        }
        switch method {
        case "tools/list": return ["tools": .list(ContextTool.allCases, \.json)]
        case "tools/call": return try await call(parameters)
        case "resources/list": return ["resources": try await withTools { try $0.resources() }]
        case "resources/templates/list": return ["resourceTemplates": []]
        case "resources/read":
            guard let address = parameters["uri"]?.text else { throw ReplyError.invalid("uri is missing") }
            guard let content = try await withTools({ try $0.resource(address) }) else {
                throw ReplyError(code: -32002, message: "there is no such draft")
            }
            return ["contents": [content]]
        default: throw ReplyError.unknown(method)
        }
    }

    /// Those that need the handshake. To others a client of a later revision learns that they are not supported.
    private static let methods = [
        "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
    ]

    private func initialize(_ parameters: JSON) throws -> JSON {
        guard revision == nil else { throw Self.noRequest("`initialize` was sent before") }
        guard let wanted = parameters["protocolVersion"]?.text else {
            throw ReplyError.invalid("protocolVersion is missing")
        }
        // A client that does not know the newest one here ends the connection.
        let agreed = Self.revisions.contains(wanted) ? wanted : Self.revisions[Self.revisions.count - 1]
        revision = agreed
        hasRoots = parameters["capabilities"]?["roots"] != nil
        if givenAuthor == nil, let name = parameters["clientInfo"]?["name"]?.text, !name.isEmpty { author = name }
        return [
            "protocolVersion": .string(agreed),
            "capabilities": ["tools": .object([]), "resources": .object([])],
            "serverInfo": ["name": "tk", "version": .string(ProgramVersion.number)],
            "instructions": .string(ContextTools.instructions),
        ]
    }

    private func call(_ parameters: JSON) async throws -> JSON {
        guard let name = parameters["name"]?.text, let tool = ContextTool(rawValue: name) else {
            throw ReplyError.invalid("there is no tool `\(Printable.line(parameters["name"]?.text ?? ""))`")
        }
        let author = author
        do {
            let result = try await withTools { tools in
                try tools.call(tool, ToolArguments(parameters["arguments"], of: tool), author: author)
            }
            let content: JSON = [["type": "text", "text": .string(result.sent)]]
            // For agents, the text is the result; a newer client reads the value.
            guard revision == "2025-06-18" else { return ["content": content, "isError": false] }
            return ["content": content, "structuredContent": result, "isError": false]
        } catch let error as CancellationError {
            throw error
        } catch {
            return ["content": [["type": "text", "text": .string(explain(error))]], "isError": true]
        }
    }
}
