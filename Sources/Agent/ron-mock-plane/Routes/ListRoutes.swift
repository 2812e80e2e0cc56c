import Hummingbird
import Platform

/// A paginated list as in the schema: `items` and `next_page_token`.
enum ListRoutes {
    static func add(to router: Router<PlaneContext>) {
        router.answer(.get, "/app/items") { request, _ in
            let query = try request.query()
            let total = try query.integer("total", default: 25, in: 0...1_000_000)
            let size = try query.integer("page_size", default: 10, in: 1...1_000)
            let start = try query.text("page_token").map { token in
                guard token.hasPrefix("p"), let start = Int(token.dropFirst()), (0...total).contains(start) else {
                    throw Refusal(.badRequest, "BAD_REQUEST", "this page_token is not one of ours", reason: "bad_token")
                }
                return start
            }
            let first = start ?? 0
            let end = min(first + size, total)
            var page: [(String, JSON)] = [
                (
                    "items",
                    .array(
                        (first..<max(first, end)).map { ["id": .string(String($0)), "name": .string("item \($0)")] })
                )
            ]
            switch query.text("end") {
            // A server whose list never ends.
            case "never": page.append(("next_page_token", "p0"))
            case "empty": page.append(("next_page_token", end < total ? .string("p\(end)") : ""))
            case "missing": if end < total { page.append(("next_page_token", .string("p\(end)"))) }
            default: page.append(("next_page_token", end < total ? .string("p\(end)") : .null))
            }
            return .json(.object(page))
        }
    }
}
