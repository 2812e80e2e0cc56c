import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// An answer whose body is read.
struct WholeAnswer: Sendable {
    var status: Int
    /// Names in lower case; values of one name are joined by a comma and a space.
    var headers: [String: String]
    var body: Data
}

/// A transport that reads answers whole, and holds to the overall timeout and to a cancellation until the last byte.
///
/// Nobody has to watch over such a call from outside, which would cost it a task of its own and a timer.
protocol WholeAnswerTransport: RonTransport {
    /// Sends a request, and returns when the whole answer is there.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - limit: How many bytes of the answer's body are taken at most.
    /// - Returns: The answer.
    /// - Throws: ``CallFailure``, never `local`.
    func answer(to request: TransportRequest, limit: Int) async throws(CallFailure) -> WholeAnswer
}

extension AsyncHTTPTransport: WholeAnswerTransport {
    func answer(to request: TransportRequest, limit: Int) async throws(CallFailure) -> WholeAnswer {
        do {
            let line = try line(for: request.timeouts)
            var message = try HTTPClient.Request(
                url: request.url, method: HTTPMethod(rawValue: request.method), headers: HTTPHeaders(request.headers))
            if let body = request.body { message.body = .bytes(body) }
            let deadline: NIODeadline? =
                request.timeouts.overallMs > 0 ? .now() + .milliseconds(Int64(request.timeouts.overallMs)) : nil
            return try await Self.perform(message, on: line, limit: limit, deadline: deadline)
        } catch let failure as CallFailure {
            throw failure
        } catch {
            throw .transport(TransportError(explaining: error))
        }
    }

    private static func perform(
        _ message: HTTPClient.Request, on line: Line, limit: Int, deadline: NIODeadline?
    ) async throws -> WholeAnswer {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Begun where it goes on: from outside, each part of the beginning would wake the loop once more.
                line.loop.execute {
                    let task = line.client.execute(
                        request: message, delegate: AnswerCollector(limit: limit), deadline: deadline)
                    cancellation.hold(task)
                    task.futureResult.whenComplete { continuation.resume(with: $0) }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

/// Ends a request whose caller was cancelled, before it has begun or afterwards.
private final class Cancellation: Sendable {
    private struct State {
        var task: HTTPClient.Task<WholeAnswer>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func hold(_ task: HTTPClient.Task<WholeAnswer>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}

/// Keeps an answer as it comes, and ends its connection where it is longer than the limit.
private final class AnswerCollector: HTTPClientResponseDelegate {
    typealias Response = WholeAnswer

    private struct State {
        var status = 0
        var headers: [String: String] = [:]
        var body = Data()
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    func didReceiveHead(task: HTTPClient.Task<WholeAnswer>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let headers = TransportResponse.fields(head.headers.map { ($0.name, $0.value) })
        state.withLock {
            $0.status = Int(head.status.code)
            $0.headers = headers
        }
        // What is known to be too long is not even begun.
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        return length > limit ? tooLong(task) : task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<WholeAnswer>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let fits = state.withLock { state in
            guard state.body.count + part.readableBytes <= limit else { return false }
            state.body.append(contentsOf: part.readableBytesView)
            return true
        }
        return fits ? task.eventLoop.makeSucceededVoidFuture() : tooLong(task)
    }

    func didFinishRequest(task: HTTPClient.Task<WholeAnswer>) throws -> WholeAnswer {
        state.withLock { WholeAnswer(status: $0.status, headers: $0.headers, body: $0.body) }
    }

    private func tooLong(_ task: HTTPClient.Task<WholeAnswer>) -> EventLoopFuture<Void> {
        let (status, headers) = state.withLock { ($0.status, $0.headers) }
        return task.eventLoop.makeFailedFuture(CallFailure.tooLong(status: status, headers: headers, limit: limit))
    }
}
