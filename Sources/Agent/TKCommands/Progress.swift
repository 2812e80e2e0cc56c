import Glibc
import Synchronization
import TKCore

/// One line on a terminal's standard error while models are asked: whom, for how long, what is waited for. It makes way
/// for everything else that is written, and stands there again within a second.
enum Progress {
    private struct Call {
        var name: String
        var begun: ContinuousClock.Instant
        /// Why a try failed, and when the next one follows.
        var pause: (reason: String, end: ContinuousClock.Instant)?
    }

    private struct State {
        var calls: [Int: Call] = [:]
        var next = 0
        /// Columns that the line takes up.
        var shown = 0
        /// The terminal's last line holds something else.
        var isMidLine = false
        var ticker: Task<Void, Never>?
    }

    private static let state = Mutex(State())

    /// Whether there is a terminal to show it on.
    static let isShown = Terminal.isTerminal(STDERR_FILENO) && Terminal.environment["TERM"] != "dumb"

    /// A provider whose calls are shown, where there is a terminal.
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

    /// Writes something else to a terminal, in place of the line.
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
            // Whoever writes a long text to a slow terminal is not waited for.
            _ = state.withLockIfAvailable { draw(&$0) }
        }
    }

    private static func draw(_ state: inout State) {
        guard !state.isMidLine, let text = line(state) else { return }
        let rest = String(repeating: " ", count: max(0, state.shown - text.count))
        state.shown = text.count + rest.count
        Terminal.send(Array("\r\(text)\(rest)".utf8), STDERR_FILENO)
    }

    /// Blanks in place of an escape sequence, so that the line needs nothing of the terminal.
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

/// A provider whose calls the terminal shows while they run.
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
                        // Before the one who waits for it writes what came of it.
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
