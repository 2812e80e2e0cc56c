import Synchronization

/// Tells each sentence once, however many drafts give rise to it.
final class News: Sendable {
    private let told = Mutex<Set<String>>([])

    /// Those that it has not returned before.
    func of(_ sentences: [String]) -> [String] {
        told.withLock { told in sentences.filter { told.insert($0).inserted } }
    }
}
