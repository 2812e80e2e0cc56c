/// The results of `work` for each of `items`, in order, with at most `limit` in flight. An error becomes the item's
/// result; a cancellation ends all.
package func inParallel<Item: Sendable, Value: Sendable>(
    _ items: [Item], limit: Int, _ work: @escaping @Sendable (Item) async throws -> Value
) async throws -> [Result<Value, any Error>] {
    try await withThrowingTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
        var results: [Result<Value, any Error>?] = Array(repeating: nil, count: items.count)
        var next = 0
        func start() {
            guard next < items.count else { return }
            let (index, item) = (next, items[next])
            next += 1
            group.addTask {
                do {
                    return (index, .success(try await work(item)))
                } catch let error as CancellationError {
                    throw error
                } catch {
                    return (index, .failure(error))
                }
            }
        }
        for _ in 0..<min(limit, items.count) { start() }
        while let (index, result) = try await group.next() {
            results[index] = result
            start()
        }
        try Task.checkCancellation()
        return results.compactMap { $0 }
    }
}
