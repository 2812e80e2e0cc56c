/// The events of a stream, each read from its JSON; made by
/// ``RonClient/subscribe(_:path:query:headers:settings:)``. It connects as ``RonEventStream`` does.
public struct DecodedEventStream<Event: Decodable & Sendable>: AsyncSequence, Sendable {
    /// What an event's data is read as.
    public typealias Element = Event

    private let events: RonEventStream
    private let heartbeats: Set<String>

    init(_ events: RonEventStream, heartbeats: Set<String>) {
        self.events = events
        self.heartbeats = heartbeats
    }

    /// Begins behind ``StreamSettings/lastEventID``.
    ///
    /// - Returns: What reads the events.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: events.makeAsyncIterator(), heartbeats: heartbeats)
    }

    /// Reads events, over as many connections as it takes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Nil after an error.
        private var events: RonEventStream.AsyncIterator?
        private let heartbeats: Set<String>

        fileprivate init(events: RonEventStream.AsyncIterator, heartbeats: Set<String>) {
            self.events = events
            self.heartbeats = heartbeats
        }

        /// The next event that is no heartbeat.
        ///
        /// - Returns: The event; nil where the server has ended the stream with status 204, and after an error.
        /// - Throws: ``RonProblem``, where the last try has failed or another one makes no sense;
        ///   ``RonSdkError/decoding(_:)``, where an event is no `Event`; `CancellationError` where the task is cancelled.
        public mutating func next() async throws -> Event? {
            do {
                while let event = try await events?.next() {
                    if !heartbeats.contains(event.event) { return try event.decode() }
                }
                return nil
            } catch {
                events = nil
                throw error
            }
        }
    }
}
