import Hummingbird
import NIOCore
import Platform

/// Makes a request fail as its path or query demands.
struct FaultInjection: RouterMiddleware {
    private let parts: Parts

    init(_ parts: Parts) { self.parts = parts }

    /// Answers requests whose fault has already passed.
    static func addRoutes(to router: Router<PlaneContext>) {
        router.anyVerb("/app/fault/:name") { _, _ in .json(["ok": true]) }
    }

    @concurrent func handle(
        _ request: Request, context: PlaneContext,
        next: @concurrent (Request, PlaneContext) async throws -> Response
    ) async throws -> Response {
        guard let fault = try wanted(request), try parts.faults.strikes(request) else {
            return try await next(request, context)
        }
        if let response = try answer(fault, try request.query(), context.channel) { return response }
        let raw = RawConnection(context.channel)
        switch fault {
        case .delay:
            let time = try request.query().integer("ms", default: 1_000, in: 0...3_600_000)
            try await waiting(request) { try await Task.sleep(for: .milliseconds(time)) }
            var response = try await next(request, context)
            // The wait for the client to disconnect has consumed the connection's input.
            response.headers[.connection] = "close"
            return response
        case .silence:
            try await waiting(request) { try await Task.sleep(for: .seconds(86_400)) }
        case .reset, .resetEarly: try await raw.reset()
        case .close: try await raw.close()
        case .garbage:
            try await raw.send("\u{16}\u{3}\u{1}\u{2}~~~ this is not HTTP ~~~\r\n\r\n")
            try await raw.close()
        case .lost:
            _ = try await next(request, context)
            try await raw.reset()
        case .headOnly, .drip:
            let time = try request.query().integer("ms", default: 200, in: 1...3_600_000)
            return slow(request, fault == .drip ? time : nil)
        default: break
        }
        // The connection is gone; nothing reads this.
        return Response(status: .ok)
    }

    /// Counts a client that disconnects in the meantime, and ends the wait.
    private func waiting(_ request: Request, _ wait: @Sendable () async throws -> Void) async throws {
        do {
            try await request.body.consumeWithCancellationOnInboundClose { _ in try await wait() }
        } catch is CancellationError {
            parts.connections.noteAbandoned()
            throw CancellationError()
        }
    }

    private func wanted(_ request: Request) throws -> WireFault? {
        let prefix = "/app/fault/"
        let path = request.uri.path
        guard
            let name = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : try request.query().text("fault")
        else { return nil }
        guard let fault = WireFault(rawValue: name) else {
            let known = WireFault.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal(
                .badRequest, "BAD_REQUEST", "there is no fault \(name); known are \(known)", reason: "bad_fault")
        }
        return fault
    }

    /// A body that arrives slowly, or never.
    private func slow(_ request: Request, _ interval: Int?) -> Response {
        let body = Array(#"{"ok":true}"#.utf8)
        return Response(
            status: .ok, headers: [.contentType: "application/json", .connection: "close"],
            body: ResponseBody(contentLength: body.count) { writer in
                guard let interval else {
                    return try await waiting(request) { try await Task.sleep(for: .seconds(86_400)) }
                }
                do {
                    try await request.body.consumeWithCancellationOnInboundClose { _ in
                        try await Self.drip(body, every: interval, to: &writer)
                    }
                } catch {
                    parts.connections.noteAbandoned()
                    throw error
                }
                try await writer.finish(nil)
            })
    }

    @concurrent private static func drip(
        _ body: [UInt8], every interval: Int, to writer: inout any ResponseBodyWriter
    ) async throws {
        for byte in body {
            try await Task.sleep(for: .milliseconds(interval))
            try await writer.write(ByteBuffer(bytes: [byte]))
        }
    }
}

extension FaultInjection {
    private struct HalfSent: Error {}

    /// Faults that are answers; nil for the others.
    private func answer(_ fault: WireFault, _ query: Query, _ channel: any Channel) throws -> Response? {
        switch fault {
        case .half: return half(announced: 1_000)
        case .halfChunked: return half(announced: nil)
        case .type:
            return Response(
                status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "<html><body>Sign in to the network</body></html>")))
        case .syntax: return json(#"{"ok": tr"#)
        case .shape: return json(#"{"unexpected": [1, 2]}"#)
        case .empty: return json("")
        case .redirect:
            var response = Response(status: .found)
            response.headers.set("location", "/app/ping")
            return response
        case .large: return large(try query.integer("bytes", default: 32 << 20, in: 0...1 << 30), channel)
        case .tooLarge: return .text("length limit exceeded", status: .contentTooLarge)
        case .rateLimited:
            let time = try query.integer("ms", default: 1_500, in: 0...3_600_000)
            var response = Response.json(
                [
                    "code": "rate_limited", "message": "too many requests", "retryable": true,
                    "retry_after_ms": .integer(time),
                ], status: .tooManyRequests)
            // The gateway rounds down, so this may be 0.
            response.headers.set("retry-after", String(time / 1_000))
            return response
        case .rateLimitedText:
            var response = Response.text("rate limited", status: .tooManyRequests)
            response.headers.set("retry-after", String(try query.integer("s", default: 2, in: 0...86_400)))
            return response
        case .overloaded:
            return .json(["reason": "overloaded", "message": "try again later"], status: .serviceUnavailable)
        default: return nil
        }
    }

    private func json(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private func half(announced: Int?) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(contentLength: announced) { writer in
                try await writer.write(ByteBuffer(string: #"{"ok": true, "rest": ""#))
                throw HalfSent()
            })
    }

    private func large(_ count: Int, _ channel: any Channel) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody { writer in
                let part = ByteBuffer(repeating: 0x20, count: 65_536)
                var left = count
                while left > 0 {
                    // For a while, a writer silently drops bytes for a closed connection.
                    guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                    try await writer.write(part.getSlice(at: 0, length: min(left, part.readableBytes)) ?? part)
                    left -= part.readableBytes
                }
                try await writer.finish(nil)
            })
    }
}
