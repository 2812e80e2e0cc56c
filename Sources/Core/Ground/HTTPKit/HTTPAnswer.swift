import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// A response whose body has been read.
package struct HTTPAnswer: Sendable {
    package let status: Int
    package let headers: [(String, String)]
    package let body: Data

    /// The body is longer than its limit.
    package struct TooLong: Error {
        package let status: Int
        package let headers: [(String, String)]
        package let limit: Int
    }
}

extension PooledClient {
    /// Sends a request and returns the complete response. Timeout and cancellation apply until the last byte, without a
    /// task or timer for each request.
    ///
    /// - Parameter limit: The most bytes of the response's body.
    /// - Throws: ``HTTPAnswer/TooLong`` and ``HTTPFailure``.
    package func answer(to request: HTTPRequest, limit: Int) async throws -> HTTPAnswer {
        do {
            let line = try line(for: request.route)
            var message = try HTTPClient.Request(
                url: request.url, method: HTTPMethod(rawValue: request.method), headers: HTTPHeaders(request.headers))
            if let body = request.body { message.body = .bytes(body) }
            let deadline: NIODeadline? = request.timeout.map { .now() + TimeAmount($0) }
            return try await Self.perform(message, on: line, limit: limit, deadline: deadline)
        } catch let error as HTTPAnswer.TooLong {
            throw error
        } catch {
            throw HTTPFailure(error)
        }
    }

    private static func perform(
        _ message: HTTPClient.Request, on line: Line, limit: Int, deadline: NIODeadline?
    ) async throws -> HTTPAnswer {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Started on the loop: from outside, each step of the start would wake it again.
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

/// Ends a request whose caller was cancelled, before or after it has begun.
private final class Cancellation: Sendable {
    private struct State {
        var task: HTTPClient.Task<HTTPAnswer>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func hold(_ task: HTTPClient.Task<HTTPAnswer>) {
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

/// Collects a response, and closes its connection if it exceeds the limit.
private final class AnswerCollector: HTTPClientResponseDelegate {
    typealias Response = HTTPAnswer

    private struct State {
        var status = 0
        var headers: [(String, String)] = []
        var body = Data()
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    func didReceiveHead(task: HTTPClient.Task<HTTPAnswer>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        state.withLock {
            $0.status = Int(head.status.code)
            $0.headers = head.headers.map { ($0.name, $0.value) }
        }
        // Do not read a body that is known to be too long.
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        return length > limit ? tooLong(task) : task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<HTTPAnswer>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let fits = state.withLock { state in
            guard state.body.count + part.readableBytes <= limit else { return false }
            state.body.append(contentsOf: part.readableBytesView)
            return true
        }
        return fits ? task.eventLoop.makeSucceededVoidFuture() : tooLong(task)
    }

    func didFinishRequest(task: HTTPClient.Task<HTTPAnswer>) throws -> HTTPAnswer {
        state.withLock { HTTPAnswer(status: $0.status, headers: $0.headers, body: $0.body) }
    }

    private func tooLong(_ task: HTTPClient.Task<HTTPAnswer>) -> EventLoopFuture<Void> {
        let (status, headers) = state.withLock { ($0.status, $0.headers) }
        return task.eventLoop.makeFailedFuture(HTTPAnswer.TooLong(status: status, headers: headers, limit: limit))
    }
}
