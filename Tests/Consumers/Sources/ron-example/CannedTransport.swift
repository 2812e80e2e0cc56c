import Foundation
import RonAppSdkSwift
import Synchronization

/// A node that does not exist: canned answers, for tests of an app and for examples without a network.
final class CannedTransport: RonTransport {
    struct Answer {
        var status = 200
        var headers: [(String, String)] = [("content-type", "application/json")]
        var body = ""
    }

    private let answer: @Sendable (TransportRequest) throws(TransportError) -> Answer
    private let asked = Mutex<[String]>([])

    /// The requests received, as method and target.
    var requests: [String] { asked.withLock { $0 } }

    init(_ answer: @escaping @Sendable (TransportRequest) throws(TransportError) -> Answer) { self.answer = answer }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let target =
            request.url.path(percentEncoded: true) + (request.url.query(percentEncoded: true).map { "?\($0)" } ?? "")
        asked.withLock { $0.append("\(request.method) \(target)") }
        let answer = try answer(request)
        return TransportResponse(
            status: answer.status, headers: answer.headers, body: TransportBody(Array(answer.body.utf8)))
    }

    func close() async throws {}
}
