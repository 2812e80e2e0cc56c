import Platform
import Synchronization

/// The drafts that language servers have open in editors, each for as long as the connection that says so. The only
/// record of that: nothing of it is on disk.
package final class OpenDrafts: Sendable {
    private struct Entry {
        let editor: ConnectedEditor
        /// By their real paths, as the server spells them.
        var drafts: [BytePath: BytePath]
    }

    private let entries = Mutex<[Entry]>([])

    package init() {}

    /// Sets the drafts that an editor has open. Blocks.
    package func set(_ drafts: [BytePath], of editor: ConnectedEditor) {
        let paths = Dictionary(drafts.map { ($0.real ?? $0, $0) }) { first, _ in first }
        entries.withLock { entries in
            entries.removeAll { $0.editor === editor }
            entries.append(Entry(editor: editor, drafts: paths))
        }
    }

    /// Forgets an editor whose connection has ended.
    package func remove(_ editor: ConnectedEditor) {
        entries.withLock { $0.removeAll { $0.editor === editor } }
        editor.close()
    }

    /// The editor that has a draft open, and how it spells the draft's path: the one that opened a draft last, if
    /// several do. Blocks.
    func editor(of draft: BytePath) -> (editor: ConnectedEditor, path: BytePath)? {
        guard entries.withLock({ !$0.isEmpty }) else { return nil }
        let path = draft.real ?? draft
        return entries.withLock { entries in
            entries.last { $0.drafts[path] != nil }.flatMap { entry in
                entry.drafts[path].map { (editor: entry.editor, path: $0) }
            }
        }
    }
}

/// An editor's language server at the other end of a connection.
package final class ConnectedEditor: Sendable {
    private struct State {
        var next = 1
        /// Serial numbers of requests without a reply.
        var open: Set<Int> = []
        var waiting: [Int: CheckedContinuation<EditorReply?, Never>] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let send: @Sendable (AgentNews) async throws -> Void
    /// An editor may ask its user before it makes a change.
    private let patience: Duration

    package init(patience: Duration = .seconds(30), send: @escaping @Sendable (AgentNews) async throws -> Void) {
        (self.patience, self.send) = (patience, send)
    }

    /// Has the editor make a change.
    ///
    /// - Throws: `Fault(.transient)` if it does not reply in time, or the connection ends.
    func ask(_ request: EditorRequest) async throws -> EditorReply {
        var request = request
        let serial = state.withLock { state in
            defer { state.next += 1 }
            state.open.insert(state.next)
            return state.next
        }
        request.serial = serial
        let (sent, send, patience) = (request, send, patience)
        let answer = await withTaskGroup(of: Void.self, returning: EditorReply?.self) { group in
            group.addTask {
                do {
                    try await send(AgentNews(wanted: sent))
                    try await Task.sleep(for: patience)
                } catch {
                    // Cancelled because the reply is there; else the connection is broken.
                }
                self.end(serial, nil)
            }
            defer { group.cancelAll() }
            return await reply(serial)
        }
        guard let answer else {
            throw Fault(
                .transient, "\(request.draft) is open in an editor whose language server did not reply",
                path: request.draft, code: Fault.inEditor)
        }
        return answer
    }

    private func reply(_ serial: Int) async -> EditorReply? {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                let isOpen = !state.isClosed && state.open.contains(serial)
                if isOpen { state.waiting[serial] = continuation }
                return isOpen
            }
            if !isOpen { continuation.resume(returning: nil) }
        }
    }

    package func take(_ reply: EditorReply) { end(reply.serial, reply) }

    private func end(_ serial: Int, _ reply: EditorReply?) {
        let waiting = state.withLock { state in
            state.open.remove(serial)
            return state.waiting.removeValue(forKey: serial)
        }
        waiting?.resume(returning: reply)
    }

    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        waiting.forEach { $0.resume(returning: nil) }
    }
}
