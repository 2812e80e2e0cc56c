import Platform
import Synchronization

/// Hashes files. Small files never wait behind a large one, and reading ends when the agent stops.
package final class ContentReader: Sendable {
    private let pool: BlockingPool
    private let largePool = BlockingPool("judge.large", threads: 1, perBulkhead: true)
    private let stopping = Atomic<Bool>(false)

    /// Files larger than this many bytes queue separately.
    package static let large: Int64 = 256 << 20

    package init(pool: BlockingPool) { self.pool = pool }

    /// Runs work that reads a file of `size` bytes, and hashes with ``hash(_:)``, on the matching thread pool.
    func run<R: Sendable>(_ size: Int64, _ work: @Sendable () throws -> R) async throws -> R {
        try await size > Self.large ? largePool.run(work) : pool.run(work)
    }

    /// - Throws: `CancellationError` once the agent stops; `Fault`.
    func hash(_ file: Descriptor) throws -> ContentHash {
        try SparseFile.hash(file) { stopping.load(ordering: .relaxed) }
    }

    /// Cancels reads in progress, and all later ones.
    package func stop() { stopping.store(true, ordering: .relaxed) }
}
