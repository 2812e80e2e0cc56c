import Platform
import Synchronization

/// Reads files to their end for their hashes, so that none of the small ones waits for a large one, and none goes on when
/// the agent stops.
package final class ContentReader: Sendable {
    private let lanes: BlockingPool
    private let largeLane = BlockingPool("judge.large", threads: 1, perBulkhead: true)
    private let stopping = Atomic<Bool>(false)

    /// Bytes from which on a file waits for others of its size.
    package static let large: Int64 = 256 << 20

    package init(lanes: BlockingPool) { self.lanes = lanes }

    /// Runs work that reads a file of `size` bytes, and hashes by ``hash(_:)``, on the lane for it.
    func run<R: Sendable>(_ size: Int64, _ work: @Sendable () throws -> R) async throws -> R {
        try await size > Self.large ? largeLane.run(work) : lanes.run(work)
    }

    /// - Throws: `CancellationError` once the agent stops; `Fault`.
    func hash(_ file: Descriptor) throws -> ContentHash {
        try SparseFile.hash(file) { stopping.load(ordering: .relaxed) }
    }

    /// No file is read to its end any more.
    package func stop() { stopping.store(true, ordering: .relaxed) }
}
