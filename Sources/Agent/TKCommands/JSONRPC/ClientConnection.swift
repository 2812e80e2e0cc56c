import Platform
import Synchronization

/// Messages to the client, and its replies. Messages are written in the order of the calls.
final class ClientConnection: Sendable {
    enum Level: Int, Sendable { case error = 1, warning, info, log }

    private struct State {
        var next = 1
        var waiting: [Int: CheckedContinuation<Result<JSON, ReplyError>?, Never>] = [:]
        var progress: [String: @Sendable () -> Void] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let output = BlockingPool("client")
    private let framing: MessageReader.Framing
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: writes all of the bytes; may block.
    init(_ framing: MessageReader.Framing = .headers, write: @escaping @Sendable ([UInt8]) -> Void) {
        self.framing = framing
        self.write = write
    }

    func send(_ message: JSON) async {
        let (framing, write) = (framing, write)
        await output.runQuietly { write(MessageReader.framed(message, framing)) }
    }

    func notify(_ method: String, _ parameters: JSON) async {
        await send(["jsonrpc": "2.0", "method": .string(method), "params": parameters])
    }

    func reply(to id: JSON, _ result: Result<JSON, ReplyError>) async {
        await send(Self.reply(to: id, result))
    }

    static func reply(to id: JSON, _ result: Result<JSON, ReplyError>) -> JSON {
        switch result {
        case .success(let value): ["jsonrpc": "2.0", "id": id, "result": value]
        case .failure(let error): ["jsonrpc": "2.0", "id": id, "error": error.json]
        }
    }

    func log(_ level: Level, _ text: String) async {
        await notify("window/logMessage", ["type": .integer(level.rawValue), "message": .string("tk: \(text)")])
    }

    func show(_ level: Level, _ text: String) async {
        await notify("window/showMessage", ["type": .integer(level.rawValue), "message": .string("tk: \(text)")])
    }

    // MARK: Requests to the client

    /// - Returns: nil if the connection ended before the client replied.
    func request(_ method: String, _ parameters: JSON) async -> Result<JSON, ReplyError>? {
        let id = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        return await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if !state.isClosed { state.waiting[id] = continuation }
                return state.isClosed
            }
            if isClosed { return continuation.resume(returning: nil) }
            Task {
                await self.send(
                    ["jsonrpc": "2.0", "id": .integer(id), "method": .string(method), "params": parameters])
            }
        }
    }

    func take(reply: JSON) async {
        if !deliver(reply: reply) { await log(.warning, "a reply to no request was ignored") }
    }

    /// - Returns: whether a request has waited for it.
    func deliver(reply: JSON) -> Bool {
        guard let id = reply["id"]?.integer,
            let waiting = state.withLock({ $0.waiting.removeValue(forKey: id) })
        else { return false }
        if let error = reply["error"] {
            let message = error["message"]?.text ?? "no reason given"
            waiting.resume(returning: .failure(ReplyError(code: error["code"]?.integer ?? 0, message: message)))
        } else {
            waiting.resume(returning: .success(reply["result"] ?? .null))
        }
        return true
    }

    /// No more replies will come.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        waiting.forEach { $0.resume(returning: nil) }
    }

    // MARK: Progress

    /// Says how far some work is: a sentence, and a percentage.
    typealias Report = @Sendable (String, Int) async -> Void

    /// Runs long work with its progress shown by the client, who may cancel it.
    ///
    /// - Parameter token: from the request; nil for one that the client is asked to create, if `creates`.
    func withProgress<R: Sendable>(
        _ title: String, token: JSON?, creates: Bool, _ work: @escaping @Sendable (@escaping Report) async throws -> R
    ) async throws -> R {
        var token = token
        if token == nil, creates {
            let new: JSON = .string("tk-\(state.withLock { $0.next })")
            if case .success? = await request("window/workDoneProgress/create", ["token": new]) { token = new }
        }
        guard let token else { return try await Self.value(of: Task { try await work { _, _ in } }) }
        let begin: JSON = [
            "kind": "begin", "title": .string(title), "cancellable": true, "percentage": .integer(0),
        ]
        let task = Task {
            await self.notify("$/progress", ["token": token, "value": begin])
            return try await work { message, share in
                let report: JSON = [
                    "kind": "report", "message": .string(message), "percentage": .integer(share),
                ]
                await self.notify("$/progress", ["token": token, "value": report])
            }
        }
        state.withLock { $0.progress[token.sent] = { task.cancel() } }
        defer { state.withLock { $0.progress[token.sent] = nil } }
        do {
            let result = try await Self.value(of: task)
            await notify("$/progress", ["token": token, "value": ["kind": "end"]])
            return result
        } catch {
            let reason = error is CancellationError ? "cancelled" : explain(error)
            let end: JSON = ["kind": "end", "message": .string(reason)]
            await notify("$/progress", ["token": token, "value": end])
            throw error
        }
    }

    private static func value<R: Sendable>(of task: Task<R, any Error>) async throws -> R {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    func cancelProgress(_ token: JSON) { state.withLock { $0.progress[token.sent] }?() }
}
