import Hummingbird
import NIOCore
import Platform

/// A stream of server-sent events with ids. The query determines what it sends and where it breaks off.
///
/// | query | meaning |
/// |---|---|
/// | `count` | total number of events; a client that has seen the last one gets 204 |
/// | `interval` | milliseconds between two |
/// | `bytes` | of each event's payload |
/// | `close` | events per connection, which then ends |
/// | `cut` | events per connection, which is then cut in the middle of the next |
/// | `retry` | milliseconds that clients should wait before they reconnect |
/// | `heartbeats` | comments before each event |
/// | `end=none` | the connection stays open after the last event |
enum StreamRoutes {
    static func add(to router: Router<PlaneContext>, _ parts: Parts) {
        router.answer(.get, "/app/events/logs") { request, _ in
            let plan = try Plan(request)
            guard plan.first <= plan.count || plan.staysOpen else { return Response(status: .noContent) }
            return Response(
                status: .ok,
                headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .connection: "close"],
                body: ResponseBody { writer in
                    do {
                        try await request.body.consumeWithCancellationOnInboundClose { _ in
                            try await send(plan, to: &writer)
                        }
                    } catch {
                        if !(error is CutOff) { parts.connections.noteAbandoned() }
                        throw error
                    }
                    try await writer.finish(nil)
                })
        }
    }

    /// Ends a connection in the middle of an answer.
    private struct CutOff: Error {}

    private struct Plan {
        let first, count, interval, bytes, heartbeats: Int
        let close, cut, retry: Int?
        let staysOpen: Bool

        init(_ request: Request) throws {
            let query = try request.query()
            count = try query.integer("count", default: 10, in: 0...10_000_000)
            interval = try query.integer("interval", default: 0, in: 0...3_600_000)
            bytes = try query.integer("bytes", default: 0, in: 0...8 << 20)
            heartbeats = try query.integer("heartbeats", default: 0, in: 0...1_000)
            func optional(_ name: String) throws -> Int? {
                query.text(name) == nil ? nil : try query.integer(name, default: 0, in: 0...10_000_000)
            }
            (close, cut, retry) = (try optional("close"), try optional("cut"), try optional("retry"))
            staysOpen = query.text("end") == "none"
            // A foreign id counts as none, as in the standard's example servers.
            first = (request.headers.first("last-event-id").flatMap(Int.init) ?? 0) + 1
        }

        func event(_ number: Int) -> String {
            let payload = bytes > 0 ? String(repeating: "x", count: bytes) : "line \(number)"
            let data = JSON.object([("kind", "log"), ("payload", .string(payload))]).sent
            return "id: \(number)\nevent: log\ndata: \(data)\n\n"
        }
    }

    @concurrent private static func send(_ plan: Plan, to writer: inout any ResponseBodyWriter) async throws {
        if let retry = plan.retry { try await writer.write(ByteBuffer(string: "retry: \(retry)\n\n")) }
        var sent = 0
        for number in stride(from: plan.first, through: plan.count, by: 1) {
            if sent == plan.close { return }
            for _ in 0..<plan.heartbeats { try await writer.write(ByteBuffer(string: ": heartbeat\n\n")) }
            let event = plan.event(number)
            if sent == plan.cut {
                try await writer.write(ByteBuffer(string: String(event.prefix(event.count - 6))))
                throw CutOff()
            }
            try await writer.write(ByteBuffer(string: event))
            sent += 1
            if plan.interval > 0 { try await Task.sleep(for: .milliseconds(plan.interval)) }
        }
        if plan.staysOpen { try await Task.sleep(for: .seconds(86_400)) }
    }
}
