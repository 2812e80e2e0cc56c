import Foundation
import Logging
import RonAppSdkSwift
import Synchronization
import Testing

/// A transport that answers as a test says, and records its requests.
final class ScriptedTransport: RonTransport {
    private struct State {
        var requests: [TransportRequest] = []
        var running = 0
        var closed = 0
    }

    private let answer: @Sendable (TransportRequest) async throws(TransportError) -> TransportResponse
    private let state = Mutex(State())

    init(_ answer: @escaping @Sendable (TransportRequest) async throws(TransportError) -> TransportResponse) {
        self.answer = answer
    }

    /// Gives the same answer to everything.
    convenience init(
        status: Int = 200, type: String? = "application/json", headers: [(String, String)] = [], body: String = "{}"
    ) {
        let all = headers + (type.map { [("Content-Type", $0)] } ?? [])
        self.init { _ throws(TransportError) in
            TransportResponse(status: status, headers: all, body: TransportBody(Array(body.utf8)))
        }
    }

    /// Never answers; a cancelled request ends.
    static func silent() -> ScriptedTransport {
        ScriptedTransport { _ throws(TransportError) in
            do {
                try await Task.sleep(for: .seconds(3_600))
            } catch {
                throw TransportError(.cancelled, "cancelled")
            }
            throw TransportError(.timeout, "an hour has passed")
        }
    }

    var requests: [TransportRequest] { state.withLock { $0.requests } }
    /// Requests without an answer or error so far.
    var running: Int { state.withLock { $0.running } }
    var closed: Int { state.withLock { $0.closed } }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        state.withLock {
            $0.requests.append(request)
            $0.running += 1
        }
        defer { state.withLock { $0.running -= 1 } }
        return try await answer(request)
    }

    func close() async throws { state.withLock { $0.closed += 1 } }
}

extension TransportRequest {
    /// The value of a header, which may occur at most once.
    func header(_ name: String) -> String? {
        let values = headers.filter { $0.0.lowercased() == name.lowercased() }.map(\.1)
        #expect(values.count <= 1, "\(name) is sent more than once")
        return values.first
    }
}

/// A client in front of a scripted transport.
func makeClient(
    _ transport: ScriptedTransport, baseUrl: String = "https://node.example.com",
    _ change: (inout RonConfig) -> Void = { _ in }
) throws -> RonClient {
    var config = RonConfig(baseUrl: URL(string: baseUrl), transport: transport)
    change(&config)
    return try RonClient(config: config)
}

/// Waits for a state however long it takes; otherwise the test's time limit ends it.
func wait(until condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(2)) }
}

/// Records log entries.
final class LogBook: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: Logger.Metadata

        /// All of it, as a person would see it.
        var text: String { "\(level) \(message) \(metadata)" }
    }

    private let kept = Mutex<[Line]>([])

    var lines: [Line] { kept.withLock { $0 } }

    func logger(level: Logger.Level = .trace) -> Logger {
        var logger = Logger(label: "test") { _ in Handler(book: self) }
        logger.logLevel = level
        return logger
    }

    private struct Handler: LogHandler {
        let book: LogBook
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:])
            book.kept.withLock { $0.append(line) }
        }
    }
}
