import Foundation

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
