import Foundation
import HTTPKit

extension RonTransport {
    /// Sends a request and reads the whole answer; the overall timeout covers both.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bodyLimit: The maximum bytes of the answer's body.
    /// - Returns: The answer's status, its headers with lower-case names, and its body.
    /// - Throws: ``TransportError``; of the kind `tooLong` if the body exceeds the limit.
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
