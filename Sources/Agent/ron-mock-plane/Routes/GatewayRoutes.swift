import Hummingbird
import Platform

/// The routes that the original gateway's tests proxy to their upstream, and the health checks.
enum GatewayRoutes {
    static func add(to router: Router<PlaneContext>) {
        router.answer(.get, "/healthz") { _, _ in .json(["ok": true]) }
        router.answer(.get, "/app/healthz") { _, _ in .json(["ok": true, "note": "app plane mounted"]) }
        router.answer(.get, "/app/ping") { _, _ in .json(["ok": true]) }
        router.answer(.get, "/app/headers") { request, _ in
            let names = ["authorization", "x-ron-token", "x-ron-passport", "x-correlation-id", "x-request-id"]
            let members = names.map { name in
                let value = request.headers.first(name)
                return (name.replacing("-", with: "_"), value.map { JSON.string($0) } ?? .null)
            }
            return .json(.object(members))
        }
        router.anyVerb("/app/method") { request, _ in .json(["method": .string(request.method.rawValue)]) }
        router.answer(.post, "/app/body") { request, _ in
            .json([
                "method": .string(request.method.rawValue), "body": JSON(body: try await request.bytes()),
                "query": try request.query().json,
            ])
        }
        for status in [400, 403, 500] {
            router.anyVerb(RouterPath("/app/problem\(status)")) { _, _ in
                .json(["code": .string("problem_\(status)")], status: HTTPResponse.Status(code: status))
            }
        }
        // As when nothing listens at the gateway's upstream port.
        router.anyVerb("/app/unbound") { _, _ in
            throw Refusal(
                .badGateway, "upstream_unavailable", "upstream unavailable", isRetryable: true, reason: "connect")
        }
    }
}
