import Hummingbird
import Synchronization

/// Counts how often each fault has been applied.
final class FaultCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// Whether to apply the fault to this request: always, or only the first `times` times given in the query. Requests
    /// to the same path with the same `fault-id` are counted together.
    ///
    /// - Throws: ``Refusal`` if `times` is not a number.
    func strikes(_ request: Request) throws -> Bool {
        let query = try request.query()
        guard query.text("times") != nil else { return true }
        let times = try query.integer("times", default: 1, in: 0...1_000_000)
        let name = [request.method.rawValue, request.uri.path, query.text("fault") ?? "", query.text("fault-id") ?? ""]
        return counts.withLock { counts in
            counts[name.joined(separator: " "), default: 0] += 1
            return counts[name.joined(separator: " "), default: 0] <= times
        }
    }
}
