import Hummingbird
import Platform

/// The routes used in the SDKs' examples.
enum ExampleRoutes {
    static func add(to router: Router<PlaneContext>) {
        router.answer(.get, "/app/hello") { request, _ in
            let name = try request.query().text("name")
            return .json(["message": .string(name.map { "Hello, \($0)" } ?? "Hello from the app plane")])
        }
        router.anyVerb("/app/echo") { request, _ in
            if request.method == .get { return .json(["query": try request.query().json]) }
            let bytes = try await request.bytes()
            guard !bytes.isEmpty else { return Response(status: .noContent) }
            return Response(
                status: .ok,
                headers: [.contentType: request.headers.first("content-type") ?? "application/octet-stream"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
        // One value of each type in the canonical schema, as on the wire.
        router.answer(.get, "/app/types") { _, _ in
            .json([
                "bool": true, "u32": 4_294_967_295, "i64": "-9223372036854775808", "u64": "18446744073709551615",
                "string": "Grüße 🌍", "bytes": "-_8A", "timestamp": "2026-03-05T20:20:00.250Z",
                "id": "0191e9c2-7f3a-7c11-b0de-3f1f5a6b7c8d",
                // Fields from a later version of the schema.
                "added_later": ["nested": [1, 2, 3]],
            ])
        }
    }
}
