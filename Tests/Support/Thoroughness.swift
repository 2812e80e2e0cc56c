import Foundation

/// How much of what can be done to a file is done. With `STEWARD_TEST_WHOLE=1` all of it everywhere; otherwise all of it
/// where a bit decides something of its own (headers, slots, records), and a sample of the rest.
package enum Thoroughness {
    package static let isWhole =
        ProcessInfo.processInfo.environment["STEWARD_TEST_WHOLE"].map { $0 != "0" && $0 != "" } ?? false

    /// So many of `all`, in order; every one of them where the whole is wanted.
    ///
    /// - Parameter most: so many where the whole is wanted: of what another suite does whole, and cheaper.
    package static func sample(
        _ all: Range<Int>, _ count: Int, most: Int = .max, _ generator: inout SeededGenerator
    ) -> [Int] {
        let wanted = isWhole ? most : count
        guard wanted < all.count else { return Array(all) }
        return (0..<wanted).map { _ in Int.random(in: all, using: &generator) }.sorted()
    }
}
