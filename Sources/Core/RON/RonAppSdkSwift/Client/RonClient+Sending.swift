import Foundation
import HTTPKit

/// Why a call ended without an answer for the caller.
enum CallFailure: Error, Sendable {
    /// Nothing was sent, or an answer was rejected; the text is for debugging.
    case local(LocalNetworkError, text: String)
    /// The transport's error.
    case transport(TransportError)
    /// The answer exceeds the limit.
    case tooLong(status: Int, headers: [String: String], limit: Int)

    /// Converts any error of a call.
    init(explaining error: any Error) {
        self = error as? CallFailure ?? .transport(TransportError(explaining: error))
    }
}

/// The request sent so far.
struct SentCall: Sendable {
    var requestId: String
    var headers: [(String, String)]
    var bodyLength: Int
}

/// A request in its final form.
struct OutgoingCall: Sendable {
    let message: TransportRequest
    /// As last seen by interceptors; nil if there are none.
    let shown: InterceptedRequest?
}

extension RonClient {
    /// Runs a part of a call with a timeout, even if that part runs the caller's own code, which may ignore
    /// cancellation.
    func within<Value: Sendable>(
        _ limit: Duration?, _ work: @escaping @Sendable () async throws -> Value
    ) async throws(CallFailure) -> Value {
        do {
            guard let value = try await withTimeout(limit, timer: deadlines, work) else {
                throw TransportError(.timeout, "the call took too long")
            }
            return value
        } catch {
            throw CallFailure(explaining: error)
        }
    }

    /// Gets headers from the provider, sends the request, and returns when the answer's head has arrived.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - record: Provides the call's id by default, and stores the sent request.
    /// - Returns: The answer.
    /// - Throws: ``CallFailure``, never `tooLong`.
    func send(_ call: PreparedCall, _ record: CallRecord) async throws(CallFailure) -> TransportResponse {
        let outgoing = try await outgoing(call, record)
        var answer: TransportResponse
        do throws(TransportError) {
            answer = try await transport.send(outgoing.message)
        } catch {
            throw .transport(error)
        }
        if let shown = outgoing.shown { answer.headers = try await received(answer, to: shown) }
        return answer
    }

    /// A call with all its headers, after all interceptors, ready to send.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - record: Provides the call's id by default, and stores the sent request.
    /// - Returns: The input for the transport.
    /// - Throws: ``CallFailure``, never `tooLong`.
    func outgoing(_ call: PreparedCall, _ record: CallRecord) async throws(CallFailure) -> OutgoingCall {
        var headers = RequestHeaders()
        var sentId: String
        do throws(LocalNetworkError) {
            try headers.add(call.request.headers, from: "the request's headers")
            if let provided = try await providedHeaders() {
                try headers.add(provided, from: "headerProvider's headers")
            }
            if let authorization = settings.authorization { headers.set("Authorization", authorization) }
            if let passport = settings.passport { headers.set("X-RON-Passport", passport) }
            headers.set("Accept", call.accept)
            headers.remove("content-type")
            if call.body != nil { headers.set("Content-Type", "application/json") }
            sentId = try headers.identify(fallback: record.requestId)
            if call.request.method.isWrite {
                try headers.setIdempotencyKey(call.request.idempotencyKey, factory: config.idempotencyKeyFactory)
            }
        } catch {
            throw .local(error, text: error.message)
        }
        var list = headers.list
        var shown: InterceptedRequest?
        if !config.interceptors.isEmpty {
            record.sends(SentCall(requestId: sentId, headers: list, bodyLength: 0))
            let last = try await prepared(
                InterceptedRequest(
                    method: call.request.method.rawValue, url: call.url, requestId: sentId, headers: HeaderFields(list))
            )
            list = last.headers.fields.map { ($0.name, $0.value) }
            // An interceptor may have set another id.
            sentId = last.headers["x-request-id"] ?? sentId
            shown = last
        }
        tellRequest(call, headers: list)
        if Task.isCancelled { throw .transport(TransportError(.cancelled, "cancelled before it was sent")) }
        record.sends(SentCall(requestId: sentId, headers: list, bodyLength: call.body?.count ?? 0))
        return OutgoingCall(
            message: TransportRequest(
                method: call.request.method.rawValue, url: call.url, headers: list, body: call.body,
                timeouts: call.timeouts),
            shown: shown)
    }

    /// The request after all interceptors; the headers they set must follow the general rules.
    private func prepared(_ request: InterceptedRequest) async throws(CallFailure) -> InterceptedRequest {
        let prepared: InterceptedRequest
        do {
            prepared = try await InterceptorChain(interceptors: config.interceptors).prepare(request)
        } catch {
            throw Self.failure(ofInterceptor: error)
        }
        for (name, value) in prepared.headers.fields where !HeaderText.isName(name) || !HeaderText.isValue(value) {
            let message = "an interceptor has set a header with characters that no header may hold"
            throw .local(LocalNetworkError(code: "local_invalid_header", message: message), text: message)
        }
        return prepared
    }

    /// The headers of an answer after all interceptors.
    private func received(
        _ answer: TransportResponse, to request: InterceptedRequest
    ) async throws(CallFailure) -> [(String, String)] {
        do {
            let seen = try await InterceptorChain(interceptors: config.interceptors).receive(
                InterceptedResponse(status: answer.status, headers: HeaderFields(answer.headers)), to: request)
            return seen.headers.fields.map { ($0.name, $0.value) }
        } catch {
            throw Self.failure(ofInterceptor: error)
        }
    }

    private static func failure(ofInterceptor error: any Error) -> CallFailure {
        if error is CancellationError { return .transport(TransportError(.cancelled, "cancelled")) }
        let message = String(describing: error)
        var text = message
        // Not logged, because its text may contain a credential.
        if case .threw(let thrown) = (error as? InterceptorFailure)?.reason { text += ": \(type(of: thrown))" }
        return .local(LocalNetworkError(code: "local_interceptor_failed", message: message), text: text)
    }

    private func providedHeaders() async throws(LocalNetworkError) -> [String: String]? {
        guard let provider = config.headerProvider else { return nil }
        do {
            return try await provider()
        } catch {
            // Not logged, because its text may contain a credential.
            throw LocalNetworkError(
                code: "local_header_provider_failed",
                message: "headerProvider has thrown an error of the type \(type(of: error)); nothing was sent")
        }
    }

    private func tellRequest(_ call: PreparedCall, headers: [(String, String)]) {
        guard let onRequest = config.onRequest else { return }
        var request = call.request
        request.headers = Redaction.redact(Dictionary(headers) { $1 })
        request.query = Redaction.redact(request.query)
        request.body = nil
        // The path was valid before; should that fail, skip the hook rather than show it an unredacted query.
        guard let url = try? settings.gateway.url(path: request.path, query: request.query) else { return }
        hooks.run("onRequest") { [request] in try onRequest(request, url) }
    }
}

extension RonClient {
    /// Sends a request, and returns when the answer's head has arrived, with any status: for answers that are streamed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - accept: The accepted content types.
    ///   - timeouts: The timeouts; the overall timeout applies only until the head arrives.
    /// - Returns: A successful answer; dropping its body closes the connection.
    /// - Throws: A local or network problem, with status 0; the server's problem if the answer is not successful, after
    ///   reading its body.
    package func open(
        _ request: AppRequest, accept: String, timeouts: Timeouts
    ) async throws(RonProblem) -> TransportResponse {
        do throws(RonProblem) {
            let answer = try await opened(request, accept: accept, timeouts: timeouts)
            tell(AppResponse<NoContent>(status: answer.status, ok: true, headers: answer.headerFields))
            return answer
        } catch {
            tell(AppResponse<NoContent>(status: error.status, ok: false, problem: error))
            throw error
        }
    }

    private func opened(
        _ request: AppRequest, accept: String, timeouts: Timeouts
    ) async throws(RonProblem) -> TransportResponse {
        let url = settings.gateway.url(for: request)
        let record = CallRecord(request, url: try? url.get(), client: self)
        let call: PreparedCall
        do throws(LocalNetworkError) {
            try checkOpen()
            call = try PreparedCall(request, url: url, accept: accept, timeouts: timeouts)
        } catch {
            throw record.finish(.local(error, text: error.message))
        }
        let answer: TransportResponse
        do {
            answer = try await within(call.limit) { try await self.send(call, record) }
        } catch {
            throw record.finish(error)
        }
        guard (200...299).contains(answer.status) else { throw await refused(answer, record) }
        record.finish(status: answer.status)
        return answer
    }

    /// Ends a call with an unsuccessful answer; its body is read for the problem, and a body beyond the limit counts as
    /// unreadable.
    private func refused(_ response: TransportResponse, _ record: CallRecord) async -> RonProblem {
        let limit = settings.maxResponseBytes
        var bytes = Data()
        do {
            bytes = try await within(.milliseconds(settings.timeouts.overallMs)) {
                try await response.body.collect(upTo: limit)
            }
        } catch {
            // The status suffices.
        }
        var problem = RonProblem(status: response.status, headers: response.headerFields, body: bytes)
        problem.correlationId = problem.correlationId ?? record.id
        record.finish(status: response.status, problem: problem, bytesReceived: bytes.count)
        return problem
    }
}
