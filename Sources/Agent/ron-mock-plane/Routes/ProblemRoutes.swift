import Hummingbird
import Platform

/// A problem in each shape found in documents and nodes.
enum ProblemRoutes {
    static func add(to router: Router<PlaneContext>) {
        router.anyVerb("/app/problem/:shape") { request, context in
            let name = try context.parameters.require("shape")
            guard let shape = ProblemShape(rawValue: name) else {
                let known = ProblemShape.allCases.map(\.rawValue).joined(separator: ", ")
                throw Refusal(
                    .notFound, "NOT_FOUND", "there is no shape \(name); known are \(known)", reason: "not_found")
            }
            let status = try request.query().integer("status", default: shape.status, in: 400...599)
            let id = request.headers.first("x-correlation-id") ?? "corr-1"
            if shape == .text { return .text("not found", status: HTTPResponse.Status(code: status)) }
            return .json(shape.body(id), status: HTTPResponse.Status(code: status))
        }
    }
}

/// The origin of a shape.
enum ProblemShape: String, CaseIterable {
    /// The schema documents: snake case.
    case schema
    /// The specification of the error envelope: `corr_id`, no kind.
    case envelope
    /// As sent by the gateway and omnigate.
    case wire
    /// The rewarder's: everything below `error`.
    case nested
    /// omnigate's when it sheds load: no code.
    case shed
    /// An app's own error, passed on by the gateway.
    case code
    /// The SDK's own names, in camel case.
    case camel
    /// Not JSON.
    case text

    var status: Int {
        switch self {
        case .schema, .camel: 422
        case .envelope, .text: 404
        case .wire: 429
        case .nested: 409
        case .shed: 503
        case .code: 400
        }
    }

    func body(_ id: String) -> JSON {
        switch self {
        case .schema:
            [
                "code": "invalid_name", "message": "the name is empty", "kind": "validation",
                "correlation_id": .string(id), "retryable": false, "reason": "name",
                "details": ["field": "name", "limits": [1, 64]],
            ]
        case .envelope:
            ["code": "not_found", "message": "no such object", "retryable": false, "corr_id": .string(id)]
        case .wire:
            [
                "code": "TOO_MANY_REQUESTS", "message": "quota exceeded", "retryable": true, "retry_after_ms": 50,
                "reason": "tenant_quota",
            ]
        case .nested:
            [
                "error": [
                    "code": "already_paid", "message": "the epoch is closed", "corr_id": .string(id),
                    "details": ["reason": "epoch_closed"],
                ]
            ]
        case .shed: ["reason": "overloaded", "message": "try again later"]
        case .code: ["code": "taxi_full"]
        case .camel:
            [
                "code": "invalid_name", "message": "the name is empty", "kind": "app", "status": 422,
                "correlationId": .string(id), "retryable": true, "retryAfterMs": 1_500, "reason": "name",
                "details": ["field": "name"],
            ]
        case .text: .null
        }
    }
}
