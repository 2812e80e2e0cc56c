import Foundation

extension RonTransport {
    /// Sends a request and reads the whole answer; the overall timeout covers both.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - bodyLimit: How many bytes of the answer's body are taken at most.
    /// - Returns: The answer's status, its headers with names in lower case, and its body.
    /// - Throws: ``TransportError``; of the kind `tooLong`, where the body is longer.
    public func exchange(
        _ request: TransportRequest, bodyLimit: Int
    ) async throws(TransportError) -> (status: Int, headers: [String: String], body: Data) {
        let limit: Duration? = request.timeouts.overallMs > 0 ? .milliseconds(request.timeouts.overallMs) : nil
        let outcome = await race(limit: limit) { () async -> Result<(Int, [String: String], Data), TransportError> in
            do throws(TransportError) {
                let answer = try await self.send(request)
                let body = try await answer.body.collect(upTo: bodyLimit)
                return .success((answer.status, answer.headerFields, body))
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .finished(.success(let (status, headers, body))): return (status, headers, body)
        case .finished(.failure(let error)): throw error
        case .timedOut: throw TransportError(.timeout, "the call took too long")
        case .cancelled: throw TransportError(.cancelled, "cancelled")
        }
    }
}
