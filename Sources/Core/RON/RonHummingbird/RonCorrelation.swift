import Foundation
import HTTPTypes
import Hummingbird

/// The ids of a request in the logs of all services involved.
///
/// Within ``RonProblemMiddleware`` they are in ``current``, so that calls to the app plane can propagate them:
///
/// ```swift
/// config.headerProvider = { RonCorrelation.current?.headers ?? [:] }
/// ```
public struct RonCorrelation: Sendable, Equatable {
    /// The id of this request, `x-request-id`.
    public var requestId: String
    /// The id of the larger operation, `x-correlation-id`; the request's own by default.
    public var correlationId: String

    /// The ids of the current request; nil outside of one.
    @TaskLocal public static var current: RonCorrelation?

    /// Creates a pair of ids.
    ///
    /// - Parameters:
    ///   - requestId: The id of this request.
    ///   - correlationId: The id of the larger operation.
    public init(requestId: String, correlationId: String) {
        self.requestId = requestId
        self.correlationId = correlationId
    }

    /// Both as headers of a call.
    public var headers: [String: String] { ["x-request-id": requestId, "x-correlation-id": correlationId] }

    /// Reads the ids of a request. Ids that could do harm in a log or in a header are ignored: more than 128
    /// characters, or characters other than visible ASCII.
    ///
    /// - Parameters:
    ///   - fields: The request's headers.
    ///   - makeId: Makes the id of a request that has none.
    init(of fields: HTTPFields, makeId: () -> String) {
        func taken(_ name: HTTPField.Name?) -> String? {
            guard let name, let value = fields[values: name].first, (1...128).contains(value.utf8.count),
                value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { return nil }
            return value
        }
        requestId = taken(Self.requestField) ?? makeId()
        correlationId = taken(Self.correlationField) ?? requestId
    }

    /// Adds both to an answer, unless its handler has set them itself.
    ///
    /// - Parameter fields: The answer's headers.
    func stamp(_ fields: inout HTTPFields) {
        for (name, value) in [(Self.requestField, requestId), (Self.correlationField, correlationId)] {
            if let name, fields[name] == nil { fields[name] = value }
        }
    }

    private static let requestField = HTTPField.Name("x-request-id")
    private static let correlationField = HTTPField.Name("x-correlation-id")
}
