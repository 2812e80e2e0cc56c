import RonAppSdkSwift
import Synchronization

/// The shipped transport, counting the bytes read from answers.
final class CountingTransport: RonTransport {
    private let base = AsyncHTTPTransport()
    private let count = Mutex(0)

    /// Body bytes so far.
    var taken: Int { count.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        var response = try await base.send(request)
        response.body = TransportBody(
            response.body.map { piece in
                self.count.withLock { $0 += piece.count }
                return piece
            })
        return response
    }

    func close() async throws { try await base.close() }
}
