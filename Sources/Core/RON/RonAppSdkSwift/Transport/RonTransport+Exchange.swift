import Foundation
import HTTPKit

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
        do {
            let whole = try await withTimeout(limit) {
                let answer = try await self.send(request)
                return (answer.status, answer.headerFields, try await answer.body.collect(upTo: bodyLimit))
            }
            guard let whole else { throw TransportError(.timeout, "the call took too long") }
            return whole
        } catch {
            throw TransportError(explaining: error)
        }
    }
}
