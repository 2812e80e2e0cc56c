import HTTPKit

/// Reads a body piece by piece, and gives up a server that is silent for too long.
actor BodyReader {
    /// What came of waiting for a piece.
    enum Reading: Sendable {
        case piece([UInt8])
        case end
        case silence
    }

    private let iterator: TransportBody.AsyncIterator

    init(_ body: TransportBody) { iterator = body.makeAsyncIterator() }

    /// The next piece. A piece is read when it is asked for, so a slow reader holds up the server.
    ///
    /// - Parameters:
    ///   - limit: How long a silence may last; nil for ever. After it, the body is of no use any more.
    ///   - clock: By what that is measured.
    /// - Returns: What came. A body that heeds no cancellation holds up nobody.
    /// - Throws: What the body throws, and `CancellationError`.
    nonisolated func read(limit: Duration?, clock: any Clock<Duration>) async throws -> Reading {
        try await withTimeout(limit, clock: clock) { try await self.next() } ?? .silence
    }

    private func next() async throws -> Reading {
        // A copy reads on where the original would.
        var iterator = iterator
        return try await iterator.next().map { .piece($0) } ?? .end
    }
}
