import Foundation
import TestSupport

/// How much of what can be done to a file is done. With `STEWARD_TEST_WHOLE=1` all of it everywhere; otherwise all of it
/// where a bit decides something of its own (headers, slots, records), and a sample of the rest.
enum Thoroughness {
    static let isWhole =
        ProcessInfo.processInfo.environment["STEWARD_TEST_WHOLE"].map { $0 != "0" && $0 != "" } ?? false

    /// So many of `all`, in order; every one of them where the whole is wanted.
    static func sample(_ all: Range<Int>, _ count: Int, _ generator: inout SeededGenerator) -> [Int] {
        guard !isWhole, count < all.count else { return Array(all) }
        return (0..<count).map { _ in Int.random(in: all, using: &generator) }.sorted()
    }
}
