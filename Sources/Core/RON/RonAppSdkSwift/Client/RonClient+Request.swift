import Foundation

extension RonClient {
    /// Makes a call, and reads its answer.
    ///
    /// - A status from 200 to 299 with JSON gives data; without a body it is a success without data, and ``NoContent``
    ///   decodes from any. `Data` gets the raw body. If the body does not decode as `T`, the call fails with
    ///   `transport_error` and the real status.
    /// - Any other status gives a problem: the server's own, or `transport_error` if it cannot be read. The status is
    ///   always the real one (docs/design/ron.md, "Where they differ").
    /// - Without an answer, the status is 0 and the problem `local_timeout`, `local_network_failure` or
    ///   `local_cancelled`. If the request cannot be sent, the status is 0 and the problem of kind `local`.
    /// - The overall timeout covers everything, including `headerProvider` and the body.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - type: The type to decode the answer's JSON as.
    /// - Returns: The result.
    public func request<T: Decodable & Sendable>(
        _ request: AppRequest, as type: T.Type = T.self
    ) async -> AppResponse<T> {
        let url = settings.gateway.url(for: request)
        let record = CallRecord(request, url: try? url.get(), client: self)
        let response: AppResponse<T> = await answer(to: request, url: url, record: record)
        tell(response)
        return response
    }

    /// Ends an impossible call like any other: with metrics, log and hooks.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - error: Why it is not sent.
    /// - Returns: The problem.
    func refuse<T: Decodable & Sendable>(_ request: AppRequest, _ error: LocalNetworkError) -> AppResponse<T> {
        let record = CallRecord(request, url: nil, client: self)
        let response: AppResponse<T> = failed(.local(error, text: error.message), record)
        tell(response)
        return response
    }

    func tell<T: Sendable>(_ response: AppResponse<T>) {
        guard let onResponse = config.onResponse else { return }
        var told = response
        told.headers = Redaction.redact(told.headers)
        // Their content cannot be redacted by name; and pending hooks would keep all of it in memory.
        told.data = nil
        told.raw = nil
        hooks.run("onResponse") { [told] in try onResponse(told.map { $0 as Any }) }
    }

    private func answer<T: Decodable & Sendable>(
        to request: AppRequest, url: Result<URL, LocalNetworkError>, record: CallRecord
    ) async -> AppResponse<T> {
        let call: PreparedCall
        do throws(LocalNetworkError) {
            try checkOpen()
            call = try PreparedCall(request, url: url, accept: "application/json", timeouts: settings.timeouts)
        } catch {
            return failed(.local(error, text: error.message), record)
        }
        do throws(CallFailure) {
            if let transport = wholeAnswers, !runsCodeOfOthers(in: call) {
                let outgoing = try await outgoing(call, record)
                return read(try await transport.answer(to: outgoing.message, limit: settings.maxResponseBytes), record)
            }
            return read(try await within(call.limit) { try await self.exchange(call, record) }, record)
        } catch {
            return failed(error, record)
        }
    }

    /// Whether a call runs code of the client's owner, which may ignore timeouts and cancellation.
    private func runsCodeOfOthers(in call: PreparedCall) -> Bool {
        config.headerProvider != nil || !config.interceptors.isEmpty
            || call.request.method.isWrite && config.idempotencyKeyFactory != nil
    }

    private func exchange(_ call: PreparedCall, _ record: CallRecord) async throws(CallFailure) -> WholeAnswer {
        let answer = try await send(call, record)
        let limit = settings.maxResponseBytes
        let headers = answer.headerFields
        // Do not even start to read a body known to be too long.
        if let length = headers["content-length"].flatMap({ Int($0) }), length > limit {
            throw .tooLong(status: answer.status, headers: headers, limit: limit)
        }
        do throws(TransportError) {
            let body = try await answer.body.collect(upTo: limit)
            return WholeAnswer(status: answer.status, headers: headers, body: body)
        } catch {
            if error.kind == .tooLong { throw .tooLong(status: answer.status, headers: headers, limit: limit) }
            throw .transport(error)
        }
    }

    private func failed<T>(_ failure: CallFailure, _ record: CallRecord) -> AppResponse<T> {
        let problem = record.finish(failure)
        var response = AppResponse<T>(status: problem.status, ok: false, problem: problem)
        if case .tooLong(_, let headers, _) = failure { response.headers = headers }
        return response
    }

    private func read<T: Decodable & Sendable>(
        _ answer: WholeAnswer, _ record: CallRecord
    ) -> AppResponse<T> {
        var response = AppResponse<T>(status: answer.status, ok: false, headers: answer.headers, raw: answer.body)
        var text: String?
        if (200...299).contains(answer.status) {
            do {
                response.data = try Self.data(of: answer)
                response.ok = true
            } catch {
                text = String(describing: error)
                response.problem = .unreadableAnswer(status: answer.status, retryable: false)
            }
        } else {
            response.problem = RonProblem(status: answer.status, headers: answer.headers, body: answer.body)
        }
        if response.problem != nil, response.problem?.correlationId == nil {
            response.problem?.correlationId = record.id
        }
        record.finish(
            status: answer.status, problem: response.problem, bytesReceived: answer.body.count, text: text)
        return response
    }

    /// The data of a success; nil if there is no body to decode.
    private static func data<T: Decodable & Sendable>(of answer: WholeAnswer) throws -> T? {
        if let nothing = NoContent() as? T { return nothing }
        if answer.body.isEmpty { return nil }
        if let bytes = answer.body as? T { return bytes }
        guard MediaType.mayBeJSON(answer.headers["content-type"]) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "the content type is not JSON's"))
        }
        return try RonJSON.decode(T.self, from: answer.body)
    }
}
