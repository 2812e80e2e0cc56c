import Foundation
import HTTPKit

/// The body of an answer, in chunks as received; it can be read once.
///
/// Chunks are read from the connection on demand, so a slow reader applies backpressure to the server and fills no
/// memory. Errors are ``TransportError``, and `CancellationError` if the task is cancelled.
public struct TransportBody: AsyncSequence, Sendable {
    /// A chunk of the body.
    public typealias Element = [UInt8]

    private let makeNext: @Sendable () -> () async throws -> [UInt8]?

    /// A body from another sequence.
    ///
    /// - Parameter pieces: Its chunks.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == [UInt8] {
        makeNext = {
            var iterator = pieces.makeAsyncIterator()
            return { try await iterator.next(isolation: #isolation) }
        }
    }

    init(_ body: HTTPBody) {
        makeNext = {
            var iterator = body.makeAsyncIterator()
            return {
                do { return try await iterator.next() } catch { throw TransportError(explaining: error) }
            }
        }
    }

    /// A body in memory.
    ///
    /// - Parameter bytes: All of it.
    public init(_ bytes: [UInt8] = []) {
        makeNext = {
            var rest: [UInt8]? = bytes.isEmpty ? nil : bytes
            return {
                defer { rest = nil }
                return rest
            }
        }
    }

    /// Starts reading.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextPiece: makeNext()) }

    /// Reads a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextPiece: () async throws -> [UInt8]?

        /// The next chunk.
        ///
        /// - Returns: The chunk; nil at the end.
        /// - Throws: ``TransportError``, and `CancellationError`.
        public mutating func next() async throws -> [UInt8]? { try await nextPiece() }
    }

    /// The whole body.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The bytes.
    /// - Throws: ``TransportError``, of the kind `tooLong` if there are more.
    public func collect(upTo limit: Int) async throws(TransportError) -> Data {
        do {
            return Data(try await bytes(upTo: limit))
        } catch {
            throw TransportError(explaining: error)
        }
    }
}
