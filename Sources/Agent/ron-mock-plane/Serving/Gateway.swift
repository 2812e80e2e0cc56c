import Hummingbird
import NIOCore
import Platform

/// What the gateway and a Micronode do with every request (ids, body limit, token), plus the mock's own recording.
struct Gateway: RouterMiddleware {
    private let parts: Parts
    private let token: String?
    private let bodyLimit: Int

    init(_ options: MockPlaneOptions, _ parts: Parts) {
        self.parts = parts
        token = options.token.map { $0.contains(" ") ? $0 : "Macro \($0)" }
        bodyLimit = options.bodyLimit
    }

    @concurrent func handle(
        _ request: Request, context: PlaneContext,
        next: @concurrent (Request, PlaneContext) async throws -> Response
    ) async throws -> Response {
        parts.connections.note(context.channel)
        var response: Response
        do {
            response = try await answer(request, context, next)
        } catch let refusal as Refusal {
            response = refusal.response
        } catch let error as HTTPError where error.status == .notFound {
            response = Refusal(.notFound, "NOT_FOUND", "nothing is at this path", reason: "not_found").response
        }
        // The gateway creates a missing request id; the correlation id defaults to it.
        let id = request.headers.first("x-request-id") ?? "r-\(randomHex(8))"
        response.headers.set("x-request-id", id)
        response.headers.set("x-correlation-id", request.headers.first("x-correlation-id") ?? id)
        return response
    }

    private func answer(
        _ request: Request, _ context: PlaneContext,
        _ next: @concurrent (Request, PlaneContext) async throws -> Response
    ) async throws -> Response {
        if try request.query().text("fault") == WireFault.resetEarly.rawValue, try parts.faults.strikes(request) {
            try await RawConnection(context.channel).reset()
            return Response(status: .ok)
        }
        var request = request
        let body: ByteBuffer
        do {
            body = try await request.collectBody(upTo: bodyLimit)
        } catch is NIOTooManyBytesError {
            return .text("length limit exceeded", status: .contentTooLarge, closing: true)
        }
        try await parts.recorder.record(RecordedRequest(request.head, body: body))
        if let refusal = refusal(of: request) { return refusal }
        return try await next(request, context)
    }

    /// A Micronode's plain-text answer to a missing or wrong macaroon.
    private func refusal(of request: Request) -> Response? {
        guard let token, request.uri.path != "/healthz" else { return nil }
        guard let shown = request.headers.first("authorization"), !shown.isEmpty else {
            var response = Response.text("unauthorized", status: .unauthorized)
            response.headers.set("www-authenticate", #"Macro realm="micronode""#)
            return response
        }
        return shown == token ? nil : .text("forbidden", status: .forbidden)
    }
}
