import ControlSocket
import NoteActions
import Platform
import TKCore

/// The language server (docs/design/language-server.md): knows the client's documents, and answers requests about them.
/// Findings and answers are the review's own (``DraftExaminer``); this only translates them.
actor LanguageServer {
    enum Phase { case new, running, shutDown }

    private(set) var phase = Phase.new
    var client = ClientAbilities()
    var drafts: [String: OpenDraft] = [:]
    var examiner: DraftExaminer
    /// Those of `initialize`.
    var initialSettings = DraftExaminer.GivenSettings()
    /// Of the workspace.
    var folders: [BytePath] = []
    let wiring: Wiring
    let connection: ClientConnection
    let agent: AgentConnection
    /// Examinations run here, one at a time.
    let pool = BlockingPool("review")
    private let debounce: Duration
    let clock: any Clock<Duration>
    /// Increased when everything has to be examined anew.
    private var epoch = 0
    private var pending: [String: Task<Void, Never>] = [:]
    private var requests: [String: Task<Void, Never>] = [:]
    /// nil before the first document, and where the kernel grants none.
    var files: FolderWatch?
    /// The last write of a review's files.
    var recording: Task<Void, Never>?

    /// - Parameter debounce: how long a document must be unchanged before it is examined.
    init(
        wiring: Wiring, examiner: DraftExaminer, connection: ClientConnection, debounce: Duration = .milliseconds(250),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.wiring = wiring
        self.examiner = examiner
        self.connection = connection
        self.debounce = debounce
        self.clock = clock
        agent = AgentConnection(socket: AgentFolders(environment: wiring.environment)?.socket, clock: clock)
    }

    // MARK: Messages

    /// Handles a message. Requests are answered later, each by a task, so that one that waits for the client keeps
    /// nothing waiting.
    ///
    /// - Returns: whether the server goes on.
    func receive(_ message: MessageReader.Message) async -> Bool {
        let json: JSON
        switch message {
        case .value(let value): json = value
        case .invalid(let reason):
            await connection.send([
                "jsonrpc": "2.0", "id": .null, "error": ["code": -32700, "message": .string(reason)],
            ])
            return true
        }
        guard let method = json["method"]?.text else {
            await connection.take(reply: json)
            return true
        }
        let parameters = json["params"] ?? .null
        if let id = json["id"] {
            await start(id, method, parameters)
            return true
        }
        if method == "exit" { return false }
        if phase == .running {
            do {
                try await notified(method, parameters)
            } catch {
                await connection.log(.warning, "\(method): \(explain(error))")
            }
        }
        return true
    }

    private func start(_ id: JSON, _ method: String, _ parameters: JSON) async {
        // Answered at once: everything after it depends on it.
        if method == "initialize" || phase != .running {
            return await connection.reply(to: id, await result { try await self.lifecycle(method, parameters) })
        }
        if method == "shutdown" {
            phase = .shutDown
            pending.values.forEach { $0.cancel() }
            await agent.close()
            return await connection.reply(to: id, .success(.null))
        }
        requests[id.sent] = Task {
            let result = await result { try await self.answer(method, parameters) }
            await connection.reply(to: id, result)
            requests[id.sent] = nil
        }
    }

    private func result(_ body: () async throws -> JSON) async -> Result<JSON, ReplyError> {
        do {
            return .success(try await body())
        } catch let error as ReplyError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(.cancelled)
        } catch {
            return .failure(.failed(explain(error)))
        }
    }

    private func lifecycle(_ method: String, _ parameters: JSON) async throws -> JSON {
        guard method == "initialize" else { throw phase == .new ? ReplyError.notInitialized : ReplyError.shutDown }
        guard phase == .new else { throw ReplyError(code: -32600, message: "`initialize` was sent before") }
        client = ClientAbilities(parameters["capabilities"])
        setFolders(parameters)
        try await configure(parameters["initializationOptions"])
        phase = .running
        return ServerAbilities.reply(to: client)
    }

    private func notified(_ method: String, _ parameters: JSON) async throws {
        let document = parameters["textDocument"]
        switch method {
        case "initialized":
            // Waits for the client, whose replies come through here.
            Task { await self.introduce() }
        case "textDocument/didOpen":
            guard let uri = document?["uri"]?.text, let text = document?["text"]?.text else { return }
            var new = OpenDraft(uri: uri, version: document?["version"]?.integer ?? 0, text: text)
            new.folder = folder(of: new.path)
            drafts[uri] = new
            examineSoon(uri, after: .zero)
            await tellAgent()
            if let open = drafts[uri] { await watch(open) }
        case "textDocument/didChange":
            guard let uri = document?["uri"]?.text else { return }
            for change in parameters["contentChanges"]?.elements ?? [] {
                guard let text = change["text"]?.text else { continue }
                if let range = change["range"] {
                    drafts[uri]?.text.replace(try TextRange(range), with: text, client.encoding)
                } else {
                    drafts[uri]?.text = EditedText(text)
                }
            }
            drafts[uri]?.version = document?["version"]?.integer ?? (drafts[uri]?.version ?? 0) &+ 1
            examineSoon(uri, after: debounce)
        case "textDocument/didSave":
            guard let uri = document?["uri"]?.text else { return }
            saved(uri, parameters["text"]?.text)
        case "textDocument/didClose":
            guard let uri = document?["uri"]?.text else { return }
            pending.removeValue(forKey: uri)?.cancel()
            drafts[uri] = nil
            await tellAgent()
            guard !client.pullsDiagnostics else { return }
            await connection.notify("textDocument/publishDiagnostics", ["uri": .string(uri), "diagnostics": []])
        case "workspace/didChangeConfiguration":
            // Clients that are asked for their settings send none here.
            if case .object? = parameters["settings"] {
                try await configure(parameters["settings"]?["tk"] ?? parameters["settings"])
                examineAll()
            } else {
                Task { await self.askForSettings() }
            }
        case "workspace/didChangeWorkspaceFolders": changeFolders(parameters["event"])
        case "workspace/didChangeWatchedFiles":
            // Reviews that changed on disk are read again.
            examineAll()
        case "window/workDoneProgress/cancel":
            if let token = parameters["token"] { connection.cancelProgress(token) }
        case "$/cancelRequest":
            if let id = parameters["id"] { requests[id.sent]?.cancel() }
        default: break
        }
    }

    private func answer(_ method: String, _ parameters: JSON) async throws -> JSON {
        switch method {
        case "textDocument/diagnostic": return try await diagnostics(parameters)
        case "textDocument/codeAction": return try await codeActions(parameters)
        case "textDocument/hover": return try await hover(parameters)
        case "textDocument/codeLens": return try await lenses(parameters)
        case "workspace/executeCommand": return try await execute(parameters)
        default: throw ReplyError.unknown(method)
        }
    }

    private func introduce() async {
        var wanted: [JSON] = []
        if client.watchesFiles {
            let watchers: JSON = [["globPattern": "**/.tk/reviews/*.json"]]
            wanted.append([
                "id": "reviews", "method": "workspace/didChangeWatchedFiles", "registerOptions": ["watchers": watchers],
            ])
        }
        if client.tellsOfConfiguration {
            wanted.append([
                "id": "settings", "method": "workspace/didChangeConfiguration", "registerOptions": ["section": "tk"],
            ])
        }
        if !wanted.isEmpty {
            _ = await connection.request("client/registerCapability", ["registrations": .array(wanted)])
        }
        await askForSettings()
    }

    private func askForSettings() async {
        guard client.hasConfiguration else { return }
        let found = await connection.request("workspace/configuration", ["items": [["section": "tk"]]])
        if case .success(let settings)? = found, let mine = settings.elements.first, case .object = mine {
            do {
                try await configure(mine)
                examineAll()
            } catch {
                await connection.log(.warning, "settings `tk`: \(explain(error))")
            }
        }
    }

    // MARK: Examining

    /// Examines everything anew, because settings, words or reviews on disk have changed. What is known, or is being
    /// examined, no longer counts.
    func examineAll() {
        epoch += 1
        for uri in drafts.keys {
            drafts[uri]?.view = nil
            drafts[uri]?.state?.content = nil
            examineSoon(uri, after: .zero)
        }
    }

    /// Takes over a state with what advisors have just said. Examinations that do not know it no longer count.
    func replace(_ state: ReviewState, of uri: String) {
        epoch += 1
        drafts[uri]?.view = nil
        drafts[uri]?.state = state
        if drafts[uri] != nil { examineSoon(uri, after: .zero) }
    }

    /// Examines a document once it has not changed for a while, and publishes what was found.
    func examineSoon(_ uri: String, after pause: Duration) {
        pending[uri]?.cancel()
        pending[uri] = Task {
            do {
                if pause > .zero { try await clock.sleep(for: pause) }
                if try await view(of: uri, isFresh: false) != nil { await publish(uri) }
            } catch is CancellationError {
            } catch {
                await connection.log(.error, "\(drafts[uri]?.name ?? uri): \(explain(error))")
            }
        }
    }

    /// The view of a document's present version.
    ///
    /// - Parameter isFresh: whether a view of this version is good enough, although its review may have changed on disk.
    /// - Returns: nil if it is not open, or is a sidecar.
    func view(of uri: String, isFresh: Bool = true) async throws -> DraftView? {
        while let open = drafts[uri], !open.isSidecar {
            if isFresh, let view = open.view, view.version == open.version { return view }
            let (examiner, epoch) = (examiner, epoch)
            let found = try await pool.run { try examiner.examine(open) }
            try Task.checkCancellation()
            // Changed in the meantime: that version is of no interest any more.
            guard drafts[uri]?.version == open.version, epoch == self.epoch else { continue }
            keep(found, of: uri)
            for notice in found.notices { await connection.log(.warning, notice) }
            return found.view
        }
        return nil
    }

    func keep(_ found: DraftExaminer.Examined, of uri: String) {
        drafts[uri]?.view = found.view
        drafts[uri]?.state = found.view.state
        drafts[uri]?.stored = found.stored
        drafts[uri]?.taken.subtract(found.recorded)
    }

    /// Keeps what answers have led to. Examinations that do not know them yet no longer count.
    func decided(_ found: DraftExaminer.Examined, of uri: String) {
        epoch += 1
        keep(found, of: uri)
    }

    /// Words of these findings are in the buffer now. Examinations that do not know it yet no longer count.
    func taken(_ ids: Set<String>, _ state: ReviewState, _ uri: String) {
        epoch += 1
        drafts[uri]?.view = nil
        drafts[uri]?.state = state
        drafts[uri]?.taken.formUnion(ids)
        examineSoon(uri, after: .zero)
    }
}
