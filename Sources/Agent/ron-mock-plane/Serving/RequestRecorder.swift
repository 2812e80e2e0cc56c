import Foundation
import Hummingbird
import JSONText
import NIOCore
import Platform
import Synchronization

/// A request as received.
package struct RecordedRequest: Codable, Sendable, Equatable {
    package struct Header: Codable, Sendable, Equatable {
        package var name: String
        package var value: String
    }

    package var method: String
    /// Path and query, escaped as sent.
    package var target: String
    /// In their order, with `host` first.
    package var headers: [Header]
    /// The body as text; nil if it is not UTF-8.
    package var body: String?
    /// The body as base64, if it is not UTF-8.
    package var base64: String?

    init(_ head: HTTPRequest, body: ByteBuffer) {
        method = head.method.rawValue
        target = head.path ?? ""
        headers = head.authority.map { [Header(name: "host", value: $0)] } ?? []
        headers += head.headerFields.map { Header(name: $0.name.rawName, value: $0.value) }
        guard body.readableBytes > 0 else { return }
        self.body = String(validating: body.readableBytesView, as: UTF8.self)
        if self.body == nil { base64 = Data(body.readableBytesView).base64EncodedString() }
    }

    /// The path, escaped as sent.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The first value of a header.
    ///
    /// - Parameter name: case-insensitive.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Keeps the last requests and, if configured, writes all of them to a file.
final class RequestRecorder: Sendable {
    private let kept = Mutex<[RecordedRequest]>([])
    private let limit: Int
    private let file: LineFile?
    private let pool = BlockingPool("ron-mock-plane.record")

    /// - Throws: `Fault` if the file cannot be opened.
    init(_ path: BytePath?, kept limit: Int) async throws {
        self.limit = limit
        file = if let path { try await pool.run { try LineFile(path) } } else { nil }
    }

    var requests: [RecordedRequest] { kept.withLock { Array($0.suffix(limit)) } }

    /// - Throws: `Fault` if the file cannot be written.
    func record(_ request: RecordedRequest) async throws {
        kept.withLock { requests in
            requests.append(request)
            // Trimmed in bulk: removing one at a time would shift the array for every request.
            if requests.count >= limit * 2 { requests.removeFirst(requests.count - limit) }
        }
        guard let file else { return }
        let line = try JSONText.line(request)
        try await pool.run { try file.append(line, synced: false) }
    }
}
