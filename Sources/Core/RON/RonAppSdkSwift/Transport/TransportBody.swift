import Foundation
import HTTPKit

/// The body of an answer, in the pieces in which it comes; it can be read once.
///
/// The next piece is taken from the connection when it is asked for, so a slow reader holds up the server and fills no
/// memory. Errors are ``TransportError``, and `CancellationError` where the task is cancelled.
public struct TransportBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = [UInt8]

    private let makeNext: @Sendable () -> () async throws -> [UInt8]?

    /// A body that comes from elsewhere.
    ///
    /// - Parameter pieces: Its pieces.
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

    /// A body that is there already.
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

    /// Begins to read.
    ///
    /// - Returns: What reads.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextPiece: makeNext()) }

    /// Reads a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextPiece: () async throws -> [UInt8]?

        /// The next piece.
        ///
        /// - Returns: The piece; nil at the end.
        /// - Throws: ``TransportError``, and `CancellationError`.
        public mutating func next() async throws -> [UInt8]? { try await nextPiece() }
    }

    /// The whole body.
    ///
    /// - Parameter limit: How many bytes are taken at most.
    /// - Returns: The bytes.
    /// - Throws: ``TransportError``, of the kind `tooLong` where there are more.
    public func collect(upTo limit: Int) async throws(TransportError) -> Data {
        do {
            return Data(try await bytes(upTo: limit))
        } catch {
            throw TransportError(explaining: error)
        }
    }
}
