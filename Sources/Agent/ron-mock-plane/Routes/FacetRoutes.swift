import Foundation
import Hummingbird
import Platform

/// Facets as served by a Micronode, below `/facets` and, the SDK's default, below `/app/facets`.
enum FacetRoutes {
    static func add(to router: Router<PlaneContext>) {
        for prefix in ["/facets", "/app/facets"] {
            router.answer(.get, RouterPath(prefix + "/meta")) { _, _ in .json(["loaded": .array(loaded)]) }
            router.anyVerb(RouterPath(prefix + "/echo/**")) { _, _ in .json(["echo": "ok"]) }
            router.answer(.get, RouterPath(prefix + "/docs/hello")) { _, _ in
                .json(["message": "Hello from the facet docs"])
            }
            router.answer(.post, RouterPath(prefix + "/auth/login")) { request, _ in try await login(request) }
            // No node has these two yet; the answers are what the SDK's helpers expect.
            router.answer(.post, RouterPath(prefix + "/register")) { request, _ in
                guard try await !request.bytes().isEmpty else {
                    throw Refusal(.badRequest, "BAD_REQUEST", "a facet's manifest is needed", reason: "empty_body")
                }
                return .json(["ok": true], status: .created)
            }
            router.answer(.post, RouterPath(prefix + "/heartbeat")) { _, _ in .json(["ok": true]) }
        }
    }

    private static var loaded: [JSON] {
        [
            facet("echo", "echo", [("POST", "/echo")]),
            facet("docs", "static", [("GET", "/hello")]),
            [
                "id": "auth", "kind": "proxy", "routes": [["method": "POST", "path": "/login"]],
                "upstream": ["scheme": "http", "host": "127.0.0.1", "port": 9_090, "base_path": "/auth"],
            ],
        ]
    }

    private static func facet(_ id: String, _ kind: String, _ routes: [(String, String)]) -> JSON {
        [
            "id": .string(id), "kind": .string(kind),
            "routes": .array(routes.map { ["method": .string($0.0), "path": .string($0.1)] }),
        ]
    }

    /// A sample facet: exchanges a user and a password for a token; the password `wrong` always fails.
    private static func login(_ request: Request) async throws -> Response {
        struct Login: Decodable {
            let user: String
            let pass: String
        }
        let login: Login
        do {
            login = try JSONDecoder().decode(Login.self, from: Data(try await request.bytes()))
        } catch {
            throw Refusal(.badRequest, "malformed", "user and pass are needed", reason: "bad_body")
        }
        guard login.pass != "wrong" else {
            throw Refusal(.forbidden, "verify_failed", "user or password is wrong", reason: "bad_password")
        }
        return .json(["token": .string("tok-\(login.user)-\(randomHex(8))")])
    }
}
