import Foundation
import HTTPKit

/// The raw events of a stream; created by ``RonClient/subscribe(path:query:headers:settings:)``.
///
/// Each iteration has its own connection, established when the first event is requested. If it ends, a new one asks the
/// server to continue after the last event; a truncated event is not returned, as it comes again. Chunks are read on
/// demand, so a slow reader applies backpressure to the server and fills no memory. Leaving the loop or cancelling the
/// task ends the connection.
public struct RonEventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = RonEvent

    /// Connects: a successful response, or the problem.
    typealias Connect = @Sendable (_ lastEventID: String?) async -> Result<TransportResponse, RonProblem>

    private let settings: StreamSettings
    private let connect: Connect

    init(settings: StreamSettings, connect: @escaping Connect) {
        self.settings = settings
        self.connect = connect
    }

    /// Starts after ``StreamSettings/lastEventID``.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(settings: settings, connect: connect) }

    /// Iterates over events, across reconnects.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let settings: StreamSettings
        private let connect: Connect
        private var backoff: StreamBackoff
        private var parser: SSEParser
        private var connection: BodyReader?
        private var events: ArraySlice<SSEEvent> = []
        /// The backoff before the next connection.
        private var delay = Duration.zero
        /// The error to throw once the events before it have been returned.
        private var failure: RonProblem?
        private var lastEventID: String?
        private var isOver = false

        fileprivate init(settings: StreamSettings, connect: @escaping Connect) {
            self.settings = settings
            self.connect = connect
            backoff = StreamBackoff(settings)
            lastEventID = settings.lastEventID
            parser = SSEParser(limit: settings.eventLimit)
        }

        /// The next event.
        ///
        /// - Returns: The event; nil if the server has ended the stream with status 204, and after an error.
        /// - Throws: ``RonProblem`` if the last attempt has failed or a retry is pointless; `CancellationError` if the
        ///   task is cancelled.
        public mutating func next() async throws -> RonEvent? {
            do {
                while !isOver {
                    if let event = events.popFirst() {
                        return RonEvent(id: event.id, event: event.type, data: event.data)
                    }
                    if let failure { throw failure }
                    if let connection {
                        try await read(connection)
                    } else {
                        try await open()
                    }
                }
                return nil
            } catch {
                isOver = true
                connection = nil
                throw error
            }
        }

        private mutating func open() async throws {
            try Task.checkCancellation()
            if delay > .zero { try await settings.clock.sleep(for: delay) }
            backoff.connects()
            let answer = await connect(lastEventID)
            try Task.checkCancellation()
            switch answer {
            case .failure(let problem):
                guard problem.retryable == true else { throw problem }
                try failed(problem)
            case .success(let response):
                guard response.status != 204 else {
                    isOver = true
                    return
                }
                try Self.check(response)
                parser = SSEParser(limit: settings.eventLimit, lastEventID: lastEventID ?? "")
                connection = BodyReader(response.body)
            }
        }

        private mutating func read(_ connection: BodyReader) async throws {
            let reading: BodyReader.Reading
            do {
                reading = try await connection.read(limit: settings.idleTimeout, clock: settings.clock)
            } catch {
                try Task.checkCancellation()
                return try failed(StreamProblem.broken)
            }
            switch reading {
            case .piece(let bytes): try parse(bytes)
            case .end: try failed(StreamProblem.ended)
            case .silence: try failed(StreamProblem.silent)
            }
        }

        private mutating func parse(_ bytes: [UInt8]) throws {
            var complete: [SSEEvent] = []
            do {
                try parser.feed(bytes, into: &complete)
            } catch {
                failure = StreamProblem.tooLong(settings.eventLimit)
            }
            events = complete[...]
            if let time = parser.reconnectionTime { backoff.serverAsked(milliseconds: time) }
            // Heartbeats do not count: a server that sends only those, and closes, would be reconnected forever.
            if events.contains(where: { !settings.heartbeats.contains($0.type) }) { backoff.receivedEvent() }
            // An id that is not valid in a header is omitted: then the server starts earlier, and nothing is lost.
            let id = parser.lastEventID
            if id.utf8.count <= 1_024, HeaderText.isValue(id) { lastEventID = id }
        }

        /// Ends the connection; schedules the next one after a backoff, or throws the problem.
        private mutating func failed(_ problem: RonProblem) throws {
            connection = nil
            guard let wait = backoff.wait(retryAfter: problem.retryAfterMs.map { .milliseconds($0) }) else {
                throw problem
            }
            delay = wait
        }

        private static func check(_ response: TransportResponse) throws {
            let type = response.headerFields["content-type"] ?? ""
            let isStream =
                type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased() == "text/event-stream"
            guard response.status == 200, isStream else { throw StreamProblem.noStream(response.status, type: type) }
        }
    }
}
