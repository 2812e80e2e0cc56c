import Foundation

/// How many of the possible damages to a file are tried. With `STEWARD_TEST_WHOLE=1` all of them everywhere; otherwise
/// all of them where each bit matters (headers, slots, records), and a sample elsewhere.
package enum Thoroughness {
    package static let isWhole =
        ProcessInfo.processInfo.environment["STEWARD_TEST_WHOLE"].map { $0 != "0" && $0 != "" } ?? false

    /// This many of `all`, in order; every one of them in a whole run.
    ///
    /// - Parameter most: a limit for whole runs, if another suite covers everything more cheaply.
    package static func sample(
        _ all: Range<Int>, _ count: Int, most: Int = .max, _ generator: inout SeededGenerator
    ) -> [Int] {
        let wanted = isWhole ? most : count
        guard wanted < all.count else { return Array(all) }
        return (0..<wanted).map { _ in Int.random(in: all, using: &generator) }.sorted()
    }
}
