import Foundation
import HTTPTypes
import Hummingbird

/// The ids by which a request is found in the logs of everybody whom it passes.
///
/// Within ``RonProblemMiddleware`` they stand in ``current``, so that calls to the app plane can carry them on:
///
/// ```swift
/// config.headerProvider = { RonCorrelation.current?.headers ?? [:] }
/// ```
public struct RonCorrelation: Sendable, Equatable {
    /// The id of this request, `x-request-id`.
    public var requestId: String
    /// The id of what this request is a part of, `x-correlation-id`; that of the request where nobody named one.
    public var correlationId: String

    /// Those of the request that is being answered; nil outside of one.
    @TaskLocal public static var current: RonCorrelation?

    /// Makes a pair of ids.
    ///
    /// - Parameters:
    ///   - requestId: The id of this request.
    ///   - correlationId: The id of what it is a part of.
    public init(requestId: String, correlationId: String) {
        self.requestId = requestId
        self.correlationId = correlationId
    }

    /// Both as headers of a call.
    public var headers: [String: String] { ["x-request-id": requestId, "x-correlation-id": correlationId] }

    /// Takes the ids that a request came with. What could do harm in a log or in a header is not taken: more than 128
    /// characters, or others than visible ASCII.
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

    /// Puts both into an answer, where its handler has not named them itself.
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
