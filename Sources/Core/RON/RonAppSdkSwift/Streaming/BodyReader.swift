import HTTPKit

/// Reads a body in chunks, with an idle timeout.
actor BodyReader {
    /// The result of waiting for a chunk.
    enum Reading: Sendable {
        case piece([UInt8])
        case end
        case silence
    }

    private let iterator: TransportBody.AsyncIterator

    init(_ body: TransportBody) { iterator = body.makeAsyncIterator() }

    /// The next chunk. A chunk is read on demand, so a slow reader applies backpressure to the server.
    ///
    /// - Parameters:
    ///   - limit: The idle timeout; nil for none. After it, the body is unusable.
    ///   - clock: The clock for the timeout.
    /// - Returns: The result. A body that ignores cancellation does not delay it.
    /// - Throws: Any error from the body, and `CancellationError`.
    nonisolated func read(limit: Duration?, clock: any Clock<Duration>) async throws -> Reading {
        try await withTimeout(limit, clock: clock) { try await self.next() } ?? .silence
    }

    private func next() async throws -> Reading {
        // A copy continues at the same position.
        var iterator = iterator
        return try await iterator.next().map { .piece($0) } ?? .end
    }
}
