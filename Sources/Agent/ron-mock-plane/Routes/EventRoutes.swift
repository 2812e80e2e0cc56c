import Hummingbird
import Platform

/// The event sink: a posted event counts once per `Idempotency-Key` and can be listed.
enum EventRoutes {
    static func add(to router: Router<PlaneContext>, _ sink: EventSink) {
        router.answer(.post, "/app/events") { request, _ in try await take(request, sink) }
        router.answer(.post, "/app/events/**") { request, _ in try await take(request, sink) }
        router.answer(.get, "/app/events") { request, _ in
            let query = try request.query()
            let after = try query.integer("after", default: 0, in: 0...Int.max)
            let limit = try query.integer("limit", default: 100_000, in: 1...100_000)
            let events = sink.events
            return .json([
                "count": .integer(events.count),
                "events": .array(events.dropFirst(after).prefix(limit).map(json)),
            ])
        }
    }

    private static func take(_ request: Request, _ sink: EventSink) async throws -> Response {
        let id = try idempotencyKey(request)
        let outcome: EventSink.Outcome
        do {
            outcome = try await sink.take(id: id, path: request.uri.path, body: request.bytes())
        } catch let fault as Fault {
            throw Refusal(.serviceUnavailable, "SERVICE_DEGRADED", fault.message, isRetryable: true, reason: "storage")
        }
        switch outcome {
        case .conflict:
            throw Refusal(
                .unprocessableContent, "idempotency_conflict", "this Idempotency-Key came with another event before",
                reason: "key_reused")
        case .taken(let sequence, let isRepeat):
            var response = Response.json(
                ["sequence": .integer(sequence), "id": id.map { .string($0) } ?? .null], status: .created)
            if isRepeat { response.headers.set("idempotent-replayed", "true") }
            return response
        }
    }

    /// Accepts either header, or both with the same value, like the wallet.
    private static func idempotencyKey(_ request: Request) throws -> String? {
        let keys = Set(["idempotency-key", "x-idempotency-key"].compactMap { request.headers.first($0) })
        guard let key = keys.first else { return nil }
        guard keys.count == 1, (1...64).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw Refusal(
                .badRequest, "BAD_REQUEST",
                "Idempotency-Key and X-Idempotency-Key must be one value of 1 to 64 visible ASCII characters",
                reason: "bad_idempotency_key")
        }
        return key
    }

    private static func json(_ event: ReceivedEvent) -> JSON {
        [
            "sequence": .integer(event.sequence), "id": event.id.map { .string($0) } ?? .null,
            "key": event.key.map { .string($0) } ?? .null, "path": .string(event.path),
            "body": event.base64 == nil ? JSON(body: Array((event.body ?? "").utf8)) : .null,
            "base64": event.base64.map { .string($0) } ?? .null,
        ]
    }
}
