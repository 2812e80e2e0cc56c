import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Platform

extension Response {
    /// - Parameters:
    ///   - value: the body.
    ///   - status: 200 by default.
    static func json(_ value: JSON, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: value.sent)))
    }

    /// - Parameters:
    ///   - text: the body.
    ///   - status: of the answer.
    ///   - closing: whether to close the connection after it.
    static func text(_ text: String, status: HTTPResponse.Status, closing: Bool = false) -> Response {
        var response = Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        if closing { response.headers[.connection] = "close" }
        return response
    }
}

/// A refused request, in omnigate's wording and wire format.
struct Refusal: Error {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    let isRetryable: Bool
    let reason: String?

    init(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, isRetryable: Bool = false,
        reason: String? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
        self.reason = reason
    }

    var response: Response {
        var members: [(String, JSON)] = [
            ("code", .string(code)), ("message", .string(message)), ("retryable", .bool(isRetryable)),
        ]
        if let reason { members.append(("reason", .string(reason))) }
        return .json(.object(members), status: status)
    }
}

extension HTTPFields {
    /// The first value of a field; the name is case-insensitive.
    func first(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { self[values: $0].first }
    }

    /// Replaces the field's values.
    mutating func set(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { self[name] = value }
    }
}

/// A query as servers parse it: `+` is a space, and percent escapes are UTF-8.
struct Query {
    let items: [(name: String, value: String)]

    /// - Parameter text: the part after the question mark.
    init(_ text: String?) {
        items = (text ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
    }

    func text(_ name: String) -> String? { items.first { $0.name == name }?.value }

    /// - Throws: ``Refusal`` if it is not a number or out of bounds.
    func integer(_ name: String, default standard: Int, in bounds: ClosedRange<Int>) throws -> Int {
        guard let text = text(name) else { return standard }
        guard let number = Int(text), bounds.contains(number) else {
            throw Refusal(
                .badRequest, "BAD_REQUEST",
                "\(name) must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)", reason: "bad_query")
        }
        return number
    }

    var json: JSON { .object(items.map { ($0.name, .string($0.value)) }) }

    private static func decoded(_ text: Substring) -> String {
        let spaced = String(text).replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? spaced
    }
}

extension Request {
    func query() throws -> Query { Query(uri.query) }

    /// The body, already collected by a middleware.
    func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await part in body { bytes += part.readableBytesView }
        return bytes
    }
}

extension JSON {
    /// The document if `bytes` are JSON, otherwise their text.
    init(body bytes: [UInt8]) {
        if bytes.isEmpty {
            self = .null
        } else if (try? JSON(parsing: bytes)) != nil {
            self = .verbatim(String(decoding: bytes, as: UTF8.self))
        } else {
            self = .string(String(decoding: bytes, as: UTF8.self))
        }
    }
}
