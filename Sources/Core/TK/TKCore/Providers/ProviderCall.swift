import Foundation
import HTTPKit

/// Parses the bytes of one answer into text and a response; created for each attempt.
package protocol ReplyReader: Sendable {
    /// Takes the next bytes of a stream and yields each piece of text in them. Throws ``LLMError``, after the pieces
    /// before the error have been yielded.
    mutating func feed(_ bytes: [UInt8], yield: (String) -> Void) throws
    /// Whether the server has finished, so that reading can stop.
    var isComplete: Bool { get }
    /// The text in a last, incomplete line. Called once, after the last bytes. Throws ``LLMError``.
    mutating func drain() throws -> String?
    /// The response at the end of the stream. Throws ``LLMError`` with kind `truncated` if the server had not reported
    /// why the model stopped.
    mutating func finish() throws -> LLMResponse
    /// The response so far, with the stop reason `interrupted`; nil before the model has begun to write: after that
    /// nothing is retried.
    var partial: LLMResponse? { get }
    /// Reads a non-streamed answer.
    mutating func read(whole body: [UInt8]) throws -> LLMResponse
}

/// One request to a provider's server, with its retries: the common part of the providers.
package struct ProviderCall: Sendable {
    package var provider: String
    package var model: String
    package var endpoint: ServerEndpoint
    package var transport: HTTPTransport
    package var retry: RetryPolicy
    package var clock: any Clock<Duration>

    /// The maximum bytes of an error's body, of an answer, and of a stream.
    package static let errorLimit = 64 << 10
    package static let bodyLimit = 16 << 20
    package static let streamLimit = 256 << 20
    /// An upper bound for a model's average bytes per token, even for spaces.
    package static let longestToken = 32

    /// The maximum UTF-8 bytes of an answer with this many tokens; a longer one is invalid.
    package static func longestText(_ tokens: Int) -> Int { max(tokens, 256) * longestToken }

    /// A server sent more than the model was allowed to write.
    private struct AnswerTooLong: Error { let limit: Int }

    /// A server answered with a web page.
    private struct WebPage: Error {}

    /// The server's location, for messages.
    package var place: String {
        endpoint.baseURL.host.map { $0 + (endpoint.baseURL.port.map { ":\($0)" } ?? "") } ?? ""
    }

    /// A stream of the events of a POST to `path`. `headers` receives the key; `body` is sent again with each attempt.
    /// An answer longer than `maxTokens` allows is refused.
    package func stream(
        _ path: String, body: String, streams: Bool, maxTokens: Int,
        headers: @escaping @Sendable (_ key: String?) -> [(String, String)],
        reader: @escaping @Sendable (KeyRedaction) -> any ReplyReader
    ) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let response = try await run(
                        path, body: body, streams: streams, maxTokens: maxTokens, headers: headers, reader: reader
                    ) { continuation.yield($0) }
                    continuation.yield(.done(response))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func run(
        _ path: String, body: String, streams: Bool, maxTokens: Int, headers: (String?) -> [(String, String)],
        reader: (KeyRedaction) -> any ReplyReader, yield: (LLMStreamEvent) -> Void
    ) async throws -> LLMResponse {
        var retries = 0
        while true {
            var hasText = false
            do {
                return try await once(
                    path, body: body, streams: streams, limit: Self.longestText(maxTokens), headers: headers,
                    reader: reader
                ) { text in
                    hasText = true
                    yield(.text(text))
                }
            } catch let error as LLMError {
                try Task.checkCancellation()
                guard !hasText, error.partial == nil, let pause = retry.delay(after: error, retries: retries) else {
                    throw error
                }
                retries += 1
                yield(.retrying(after: pause, because: error))
                try await clock.sleep(for: pause)
            }
        }
    }

    private func once(
        _ path: String, body: String, streams: Bool, limit: Int, headers: (String?) -> [(String, String)],
        reader makeReader: (KeyRedaction) -> any ReplyReader, yield: (String) -> Void
    ) async throws -> LLMResponse {
        let key = try await endpoint.currentKey(for: provider)
        let redaction = KeyRedaction(key: key)
        var reader = makeReader(redaction)
        var requestID: String?
        do {
            let reply = try await answer(
                HTTPRequest(
                    method: "POST", url: endpoint.url(path),
                    headers: headers(key?.reveal()) + [
                        ("content-type", "application/json"),
                        ("accept", streams ? "text/event-stream, application/x-ndjson" : "application/json"),
                    ], body: Data(body.utf8), route: HTTPRoute(readTimeout: endpoint.idleTimeout)), redaction: redaction
            )
            requestID = reply.header("request-id") ?? reply.header("x-request-id")
            // A server that does not stream, although it was asked to, answers with one object.
            let type = reply.header("content-type")?.lowercased() ?? ""
            if type.hasPrefix("text/html") || type.hasPrefix("application/xhtml") { throw WebPage() }
            let isWhole = type.hasPrefix("application/json")
            guard streams, !isWhole else {
                let bytes = try await reply.body.bytes(upTo: Self.bodyLimit)
                if Self.isWebPage(bytes) { throw WebPage() }
                var response = try reader.read(whole: bytes)
                guard response.text.utf8.count <= limit else { throw AnswerTooLong(limit: limit) }
                response.requestID = response.requestID ?? requestID
                if !response.text.isEmpty { yield(response.text) }
                return response
            }
            var count = 0
            var written = 0
            // Each piece of text has its own frame, with overhead.
            let most = min(Self.streamLimit, limit * 64 + 1 << 20)
            reading: for try await part in reply.body {
                if count == 0, Self.isWebPage(part) { throw WebPage() }
                count += part.count
                guard count <= most else { throw AnswerTooLong(limit: limit) }
                try reader.feed(part) { text in
                    written += text.utf8.count
                    yield(text)
                }
                guard written <= limit else { throw AnswerTooLong(limit: limit) }
                if reader.isComplete { break reading }
            }
            // A cancelled body ends like a complete one.
            try Task.checkCancellation()
            if !reader.isComplete, let text = try reader.drain() { yield(text) }
            var response = try reader.finish()
            response.requestID = response.requestID ?? requestID
            return response
        } catch {
            throw try failure(error, partial: reader.partial, requestID: requestID)
        }
    }

    /// Whether a body begins like HTML or XML rather than an event or JSON.
    private static func isWebPage(_ bytes: [UInt8]) -> Bool {
        bytes.first { ![9, 10, 13, 32, 0xEF, 0xBB, 0xBF].contains($0) } == UInt8(ascii: "<")
    }

    /// The body of a GET, for lists and health checks; not retried.
    package func get(_ path: String, headers: (String?) -> [(String, String)]) async throws -> [UInt8] {
        let key = try await endpoint.currentKey(for: provider)
        do {
            let reply = try await answer(
                HTTPRequest(
                    url: endpoint.url(path), headers: headers(key?.reveal()) + [("accept", "application/json")],
                    route: HTTPRoute(readTimeout: min(endpoint.idleTimeout, .seconds(30)))),
                redaction: KeyRedaction(key: key))
            return try await reply.body.bytes(upTo: Self.bodyLimit)
        } catch {
            throw try failure(error, partial: nil, requestID: nil)
        }
    }

    /// Decodes the body of a GET. Throws ``LLMError`` with kind `malformed`.
    package func get<Value: Decodable>(
        _ type: Value.Type, _ path: String, headers: (String?) -> [(String, String)]
    ) async throws -> Value {
        let bytes = try await get(path, headers: headers)
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw LLMError(
                .malformed,
                "\(provider): \(place)\(path) answered with something else than expected. Check the base "
                    + "URL.", provider: provider)
        }
    }

    /// The answer, if its status is a success.
    private func answer(
        _ request: HTTPRequest, redaction: KeyRedaction
    ) async throws -> HTTPResponse {
        let reply = try await transport.send(request)
        if (200..<300).contains(reply.status) { return reply }
        if (300..<400).contains(reply.status) {
            let target = redaction.clean(reply.header("location") ?? "elsewhere", limit: 200)
            throw LLMError(
                .invalidRequest,
                "\(provider): \(place) redirects to \(target) (\(reply.status)). It was not followed, "
                    + "because it would get the draft and the key; set the base URL to the new place if you trust it.",
                provider: provider, status: reply.status)
        }
        let body: [UInt8]
        do {
            body = try await reply.body.bytes(upTo: Self.errorLimit, cuts: true)
        } catch {
            // The status suffices; the body is lost with the connection.
            body = []
        }
        try Task.checkCancellation()
        var error = ServerComplaint(body: body).error(
            provider: provider, place: place, model: model, status: reply.status, redaction: redaction)
        error.requestID = (reply.header("request-id") ?? reply.header("x-request-id")).map { redaction.clean($0) }
        error.retryAfter = RetryPolicy.wait(
            milliseconds: reply.header("retry-after-ms"), secondsOrDate: reply.header("retry-after"), now: Date())
        switch reply.header("x-should-retry")?.lowercased() {
        case "true": error.serverAllowsRetry = true
        case "false": error.serverAllowsRetry = false
        default: break
        }
        if let wait = error.retryAfter, wait > retry.longestWait {
            error.message += " The server asks to wait \(wait.components.seconds) s."
        }
        throw error
    }

    /// Converts an internal error to a public one; throws `CancellationError` if the task was cancelled.
    private func failure(_ error: any Error, partial: LLMResponse?, requestID: String?) throws -> LLMError {
        try Task.checkCancellation()
        if error is CancellationError { throw error }
        var result: LLMError
        if let error = error as? LLMError {
            result = error
        } else if let refusal = error as? LoopbackGuard.Refusal, refusal.kind != .network {
            result = LLMError(refusal.kind, "\(provider): \(refusal.message)", provider: provider)
        } else if error is WebPage {
            result = LLMError(
                .malformed,
                "\(provider): \(place) answers with a web page, not as a model's server does. Check the base URL: it may "
                    + "need a path such as `/v1`, or another port.", provider: provider, serverAllowsRetry: false)
        } else if let tooLong = error as? AnswerTooLong {
            result = LLMError(
                .malformed,
                "\(provider): \(place) sent more than \(model) was allowed to write (\(tooLong.limit) bytes); the rest was "
                    + "not read. Check what runs there.", provider: provider, serverAllowsRetry: false)
        } else if let tooLong = error as? LineSplitter.TooLong {
            result = LLMError(
                .malformed, "\(provider): \(place) sent a line of more than \(tooLong.limit) bytes.", provider: provider
            )
        } else {
            let refusal = error as? LoopbackGuard.Refusal
            let failure = HTTPFailure(error)
            let reason = refusal?.message ?? failure.reason
            result = LLMError(
                .network,
                "\(provider): no answer from \(place): \(reason). "
                    + "Check the network and the base URL, then try again.", provider: provider)
            if partial != nil {
                result.message = "\(provider): the answer from \(place) broke off: \(reason). Try again."
            }
            if failure.kind == .tls { result.serverAllowsRetry = false }
            if refusal != nil || failure.isUnconnected, endpoint.isLoopback {
                result.kind = .notAvailable
                result.message =
                    "\(provider): nothing runs at \(place) (\(reason)). Start the server, or set the base URL."
            }
        }
        result.partial = result.partial ?? partial
        result.requestID = result.requestID ?? requestID
        if let own = result.partial?.requestID ?? requestID { result.partial?.requestID = own }
        return result
    }
}
