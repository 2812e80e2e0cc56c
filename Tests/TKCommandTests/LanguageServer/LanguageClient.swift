import Foundation
import Platform
import TestSupport

/// An editor with one document open, as `tk lsp` sees it: it keeps the buffer, and makes the changes that it is asked for.
final class LanguageClient {
    /// What the editor does when it is asked to change the buffer.
    enum Obedience {
        case obeys
        case refuses
        /// Types this at the document's end first, once, so that the version is another one.
        case types(String)
    }

    let uri: String
    let encoding: String
    private(set) var text: [UInt8]
    private(set) var version = 1
    /// What the server has said about itself.
    private(set) var abilities: [String: Any] = [:]
    var obedience = Obedience.obeys
    private let talk: Conversation
    private var nextID = 0
    private var seen = 0
    private var isAlone = false

    /// Starts the server, and opens the document.
    ///
    /// - Parameters:
    ///   - encoding: `utf-8` or `utf-16`.
    ///   - folders: of the workspace, in the fixture's home.
    ///   - more: what the editor says of itself in addition.
    init(
        _ fixture: CommandFixture, _ text: String, name: BytePath = "draft.md", encoding: String = "utf-16",
        folders: [BytePath] = [], options: [String: Any] = [:], debounce: Int = 10,
        more: [String: Any] = [:]
    ) async throws {
        self.encoding = encoding
        self.text = Array(text.utf8)
        uri = "file://" + fixture.home.path.appending(name).text
        talk = try Conversation(fixture, ["lsp", "--stdio", "--debounce", "\(debounce)"])
        let window: [String: Any] = ["workDoneProgress": true, "showDocument": ["support": true]]
        let general = ["positionEncodings": encoding == "utf-8" ? ["utf-8", "utf-16"] : ["utf-16"]]
        let capabilities: [String: Any] = [
            "general": general, "window": window,
            "textDocument": ["publishDiagnostics": ["codeDescriptionSupport": true]],
        ].merging(more) { $1 }
        let reply = try await request(
            "initialize",
            [
                "processId": NSNull(), "capabilities": capabilities,
                "initializationOptions": options,
                "workspaceFolders": folders.map { ["uri": "file://" + fixture.home.path.appending($0).text] },
            ])
        guard let abilities = (reply["result"] as? [String: Any])?["capabilities"] as? [String: Any],
            abilities["positionEncoding"] as? String == encoding
        else { throw TestFailure("not the encoding that was asked for: \(reply)") }
        self.abilities = abilities
        try notify("initialized", [:])
        try open(text)
    }

    func open(_ text: String) throws {
        self.text = Array(text.utf8)
        version += 1
        let document: [String: Any] = ["uri": uri, "languageId": "markdown", "version": version, "text": text]
        try notify("textDocument/didOpen", ["textDocument": document])
    }

    var string: String { String(decoding: text, as: UTF8.self) }

    // MARK: Messages

    func notify(_ method: String, _ parameters: [String: Any]) throws {
        try send(["jsonrpc": "2.0", "method": method, "params": parameters])
    }

    /// Sends a request, and waits for its reply. Requests of the server are answered meanwhile.
    func request(_ method: String, _ parameters: [String: Any]) async throws -> [String: Any] {
        nextID += 1
        let id = nextID
        try send(["jsonrpc": "2.0", "id": id, "method": method, "params": parameters])
        return try await message("a reply to \(method)") { $0["id"] as? Int == id && $0["method"] == nil }
    }

    /// Sends a request whose reply is not waited for.
    func begin(_ method: String, _ parameters: [String: Any]) throws {
        nextID += 1
        try send(["jsonrpc": "2.0", "id": nextID, "method": method, "params": parameters])
    }

    /// Waits for any message more, and answers it.
    func settles() async throws { _ = try await message("anything") { _ in true } }

    func raw(_ text: String) throws { try talk.types(text) }

    /// Waits for a message that has not been waited for before.
    func message(_ what: String, _ isMeant: ([String: Any]) -> Bool) async throws -> [String: Any] {
        var found: [String: Any]?
        try await waitUntil("\(what) arrives") {
            let all = try messages()
            while found == nil, seen < all.count {
                let message = all[seen]
                seen += 1
                try answer(message)
                if isMeant(message) { found = message }
            }
            return found != nil
        }
        return found ?? [:]
    }

    /// Diagnostics of the buffer's present version.
    func diagnostics() async throws -> [[String: Any]] {
        let reply = try await request("textDocument/diagnostic", ["textDocument": ["uri": uri]])
        guard let result = reply["result"] as? [String: Any], let items = result["items"] as? [[String: Any]] else {
            throw TestFailure("no diagnostics: \(reply)")
        }
        return items
    }

    /// The words that each diagnostic is about, with its code.
    func findings() async throws -> [String] {
        try await diagnostics().map { item in
            "\(item["code"] as? String ?? "?"): \(words(item["range"] as? [String: Any] ?? [:]))"
        }
    }

    /// Ends the server, and returns its exit code.
    func ends() throws -> Int32 { try talk.ends().status }

    var errors: String { get throws { try talk.errors } }

    /// Kills the server. The editor makes the changes that it was asked for until then.
    func killsServer() throws {
        talk.isKilled()
        isAlone = true
        for message in try messages()[seen...] { try answer(message) }
    }

    private func send(_ message: [String: Any]) throws {
        if isAlone { return }
        let content = try JSONSerialization.data(withJSONObject: message)
        try talk.types("Content-Length: \(content.count)\r\n\r\n" + String(decoding: content, as: UTF8.self))
    }

    private func messages() throws -> [[String: Any]] {
        var bytes = Array(try talk.output.utf8)[...]
        var messages: [[String: Any]] = []
        while let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
            let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            guard let length = Int(head.dropFirst("Content-Length: ".count)), bytes.endIndex - end.upperBound >= length
            else { break }
            let content = Data(bytes[end.upperBound..<end.upperBound + length])
            messages.append(try JSONSerialization.jsonObject(with: content) as? [String: Any] ?? [:])
            bytes = bytes[(end.upperBound + length)...]
        }
        return messages
    }

    private func answer(_ message: [String: Any]) throws {
        guard let id = message["id"], let method = message["method"] as? String else { return }
        var result: Any = NSNull()
        if method == "workspace/applyEdit" {
            var isApplied = true
            switch obedience {
            case .obeys: break
            case .refuses: isApplied = false
            case .types(let more):
                obedience = .obeys
                try change(from: text.count, to: text.count, more)
            }
            let parameters = message["params"] as? [String: Any]
            let edit = (parameters?["edit"] as? [String: Any])?["documentChanges"] as? [[String: Any]]
            let document = edit?.first?["textDocument"] as? [String: Any]
            if document?["version"] as? Int != version { isApplied = false }
            if isApplied { try make(edit?.first?["edits"] as? [[String: Any]] ?? []) }
            result = ["applied": isApplied]
        }
        try send(["jsonrpc": "2.0", "id": id, "result": result])
    }

    // MARK: The buffer

    /// From the last edit to the first, so that the places of the others stay.
    private func make(_ edits: [[String: Any]]) throws {
        let places = edits.map { edit in
            let range = edit["range"] as? [String: Any] ?? [:]
            return (offset(range["start"]), offset(range["end"]), edit["newText"] as? String ?? "")
        }
        for (start, end, new) in places.sorted(by: { $0.0 > $1.0 }) { try change(from: start, to: end, new) }
    }

    /// Replaces bytes of the buffer, and tells the server.
    func change(from start: Int, to end: Int, _ new: String) throws {
        let range: [String: Any] = ["start": position(start), "end": position(end)]
        text.replaceSubrange(start..<end, with: new.utf8)
        version += 1
        try notify(
            "textDocument/didChange",
            [
                "textDocument": ["uri": uri, "version": version], "contentChanges": [["range": range, "text": new]],
            ])
    }

    /// Line and character of a byte.
    func position(_ offset: Int) -> [String: Any] {
        let before = String(decoding: text[..<offset], as: UTF8.self)
        let lines = Self.lines(before)
        let last = lines[lines.count - 1]
        return ["line": lines.count - 1, "character": encoding == "utf-8" ? last.utf8.count : last.utf16.count]
    }

    private func offset(_ position: Any?) -> Int {
        guard let position = position as? [String: Any], let line = position["line"] as? Int,
            let character = position["character"] as? Int
        else { return 0 }
        var place = 0
        var left = line
        while left > 0, place < text.count {
            if text[place] == 10 || text[place] == 13 && (place + 1 == text.count || text[place + 1] != 10) {
                left -= 1
            }
            place += 1
        }
        let rest = String(decoding: text[place...], as: UTF8.self)
        if encoding == "utf-8" { return place + character }
        return place + String(decoding: Array(rest.utf16.prefix(character)), as: UTF16.self).utf8.count
    }

    private func words(_ range: [String: Any]) -> String {
        String(decoding: text[offset(range["start"])..<offset(range["end"])], as: UTF8.self)
    }

    /// Split at LF, CRLF and CR.
    private static func lines(_ text: String) -> [String] {
        var lines = [""]
        var wasCR = false
        for scalar in text.unicodeScalars {
            if scalar == "\n", wasCR {
                // The rest of a CRLF.
            } else if scalar == "\n" || scalar == "\r" {
                lines.append("")
            } else {
                lines[lines.count - 1].unicodeScalars.append(scalar)
            }
            wasCR = scalar == "\r"
        }
        return lines
    }

    // MARK: Actions

    /// The titles of the actions at the first of these words, with their commands.
    func actions(at words: String) async throws -> [(title: String, command: [String: Any])] {
        guard let place = text.firstRange(of: Array(words.utf8)) else {
            throw TestFailure("no “\(words)” in the buffer")
        }
        return try await actions(from: place.lowerBound, to: place.upperBound)
    }

    /// The same at bytes of the buffer.
    func actions(from start: Int, to end: Int) async throws -> [(title: String, command: [String: Any])] {
        let range: [String: Any] = ["start": position(start), "end": position(end)]
        let reply = try await request(
            "textDocument/codeAction",
            ["textDocument": ["uri": uri], "range": range, "context": ["diagnostics": [Any]()]])
        let actions = reply["result"] as? [[String: Any]] ?? []
        return actions.compactMap { action in
            (action["command"] as? [String: Any]).map { (action["title"] as? String ?? "?", $0) }
        }
    }

    /// Runs the first action whose title begins like this.
    func does(_ title: String, at words: String) async throws -> [String: Any] {
        let actions = try await actions(at: words)
        guard let action = actions.first(where: { $0.title.hasPrefix(title) }) else {
            throw TestFailure("no action “\(title)” among \(actions.map(\.title))")
        }
        return try await request("workspace/executeCommand", action.command)
    }

    /// The text of the lens above the draft.
    func lens() async throws -> String {
        let reply = try await request("textDocument/codeLens", ["textDocument": ["uri": uri]])
        let lens = (reply["result"] as? [[String: Any]])?.first?["command"] as? [String: Any]
        return lens?["title"] as? String ?? "none"
    }
}
