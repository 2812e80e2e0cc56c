import Glibc
import Synchronization
import TKCore

/// A status line on standard error while models are called: the model, the elapsed time, and the reason for a wait. It
/// makes way for all other output and reappears within a second.
enum Progress {
    private struct Call {
        var name: String
        var begun: ContinuousClock.Instant
        /// Why a call failed, and when the retry follows.
        var pause: (reason: String, end: ContinuousClock.Instant)?
    }

    private struct State {
        var calls: [Int: Call] = [:]
        var next = 0
        /// Columns in use.
        var shown = 0
        /// The terminal's last line contains other output.
        var isMidLine = false
        var ticker: Task<Void, Never>?
    }

    private static let state = Mutex(State())

    /// Whether there is a terminal to show it on.
    static let isShown = Terminal.isTerminal(STDERR_FILENO) && Terminal.environment["TERM"] != "dumb"

    /// Wraps a provider so that its calls are shown, if there is a terminal.
    static func watched(_ provider: any LLMProvider) -> any LLMProvider {
        isShown ? WatchedProvider(provider: provider) : provider
    }

    /// - Returns: the call's number, for ``pauses(_:_:_:)`` and ``ends(_:)``.
    fileprivate static func begins(_ name: String) -> Int {
        state.withLock { state in
            state.next += 1
            state.calls[state.next] = Call(name: Printable.line(name), begun: .now)
            draw(&state)
            if state.ticker == nil { state.ticker = Task { await tick() } }
            return state.next
        }
    }

    fileprivate static func pauses(_ call: Int, _ pause: Duration, _ error: LLMError) {
        state.withLock { state in
            state.calls[call]?.pause = (reason(error), .now + pause)
            draw(&state)
        }
    }

    fileprivate static func ends(_ call: Int) {
        state.withLock { state in
            state.calls[call] = nil
            erase(&state)
            guard state.calls.isEmpty else { return }
            state.ticker?.cancel()
            state.ticker = nil
        }
    }

    /// Writes other output to a terminal in place of the status line.
    static func apart(_ bytes: [UInt8], on descriptor: Int32, _ write: () -> Void) {
        guard isShown, Terminal.isTerminal(descriptor) else { return write() }
        state.withLock { state in
            erase(&state)
            write()
            if let last = bytes.last { state.isMidLine = last != UInt8(ascii: "\n") }
        }
    }

    private static func tick() async {
        while true {
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                return
            }
            // Don't wait for a thread that is writing a long text to a slow terminal.
            _ = state.withLockIfAvailable { draw(&$0) }
        }
    }

    private static func draw(_ state: inout State) {
        guard !state.isMidLine, let text = line(state) else { return }
        let rest = String(repeating: " ", count: max(0, state.shown - text.count))
        state.shown = text.count + rest.count
        Terminal.send(Array("\r\(text)\(rest)".utf8), STDERR_FILENO)
    }

    /// Overwrites with blanks instead of an escape sequence, to work on any terminal.
    private static func erase(_ state: inout State) {
        guard state.shown > 0 else { return }
        Terminal.send(Array("\r\(String(repeating: " ", count: state.shown))\r".utf8), STDERR_FILENO)
        state.shown = 0
    }

    private static func line(_ state: State) -> String? {
        guard let first = state.calls.min(by: { $0.key < $1.key })?.value else { return nil }
        let now = ContinuousClock.now
        let seconds = (now - first.begun).components.seconds
        var text = "asking \(first.name) …" + (seconds > 0 ? " \(seconds) s" : "")
        if let pause = state.calls.values.compactMap(\.pause).filter({ $0.end > now }).min(by: { $0.end < $1.end }) {
            text += "; \(pause.reason), next try in \((pause.end - now).components.seconds + 1) s"
        } else if state.calls.count > 1 {
            text += ", \(state.calls.count) calls"
        }
        return String(text.prefix(Terminal.errorStyle.width - 1))
    }

    private static func reason(_ error: LLMError) -> String {
        switch error.kind {
        case .rateLimited: "too many requests"
        case .overloaded: "overloaded"
        case .network: "no connection"
        case .truncated, .malformed: "a broken answer"
        default: "the server failed"
        }
    }
}

/// A provider whose calls are shown on the terminal while they run.
private struct WatchedProvider: LLMProvider {
    let provider: any LLMProvider

    var name: String { provider.name }
    var modelID: String { provider.modelID }
    var isLocal: Bool { provider.isLocal }
    var server: String? { provider.server }

    func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                let call = Progress.begins("\(name) \(modelID)")
                defer { Progress.ends(call) }
                do {
                    for try await event in provider.stream(request) {
                        switch event {
                        case .retrying(let pause, let error): Progress.pauses(call, pause, error)
                        case .text: break
                        // Erased before the caller writes the result.
                        case .done: Progress.ends(call)
                        }
                        continuation.yield(event)
                    }
                    continuation.finish()
                } catch {
                    Progress.ends(call)
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    func models() async throws -> [LLMModel] { try await provider.models() }
    func checkHealth() async throws -> String { try await provider.checkHealth() }
}
