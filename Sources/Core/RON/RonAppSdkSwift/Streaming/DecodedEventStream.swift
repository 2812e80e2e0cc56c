/// The events of a stream, each decoded from its JSON; created by
/// ``RonClient/subscribe(_:path:query:headers:settings:)``. It connects like ``RonEventStream``.
public struct DecodedEventStream<Event: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The type of an event's data.
    public typealias Element = Event

    private let events: RonEventStream
    private let heartbeats: Set<String>

    init(_ events: RonEventStream, heartbeats: Set<String>) {
        self.events = events
        self.heartbeats = heartbeats
    }

    /// Starts after ``StreamSettings/lastEventID``.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: events.makeAsyncIterator(), heartbeats: heartbeats)
    }

    /// Iterates over events, across reconnects.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// nil after an error.
        private var events: RonEventStream.AsyncIterator?
        private let heartbeats: Set<String>

        fileprivate init(events: RonEventStream.AsyncIterator, heartbeats: Set<String>) {
            self.events = events
            self.heartbeats = heartbeats
        }

        /// The next event other than a heartbeat.
        ///
        /// - Returns: The event; nil if the server has ended the stream with status 204, and after an error.
        /// - Throws: ``RonProblem`` if the last attempt has failed or a retry is pointless;
        ///   ``RonSdkError/decoding(_:)`` if an event is not an `Event`; `CancellationError` if the task is cancelled.
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
