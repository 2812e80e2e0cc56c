import Foundation

/// An answer with its complete body.
struct WholeAnswer: Sendable {
    var status: Int
    /// With lower-case names; multiple values of one name are joined by a comma and a space.
    var headers: [String: String]
    var body: Data
}

/// A transport that reads complete answers, and enforces the overall timeout and cancellation until the last byte.
///
/// Such a call needs no external supervision, which would cost a task and a timer.
protocol WholeAnswerTransport: RonTransport {
    /// Sends a request, and returns the complete answer.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The maximum bytes of the answer's body.
    /// - Returns: The answer.
    /// - Throws: ``CallFailure``, never `local`.
    func answer(to request: TransportRequest, limit: Int) async throws(CallFailure) -> WholeAnswer
}
