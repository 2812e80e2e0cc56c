import Foundation
import TestSupport
import Testing

@testable import Rules

@Suite("The scheduler with events in any order")
struct SchedulerModelTests {
    /// The number of histories: three thousand take a second on an idle core.
    private static let histories = Thoroughness.isWhole ? 1_000_000 : 100_000

    @Test("No request is missed, no job is lost, and no limit or order is violated")
    func histories() async throws {
        var generator = SeededGenerator(for: "SchedulerModelTests")
        let seed = generator.next()
        let cores = 2
        let found = await withTaskGroup(of: [String].self) { group in
            for core in 0..<cores {
                group.addTask { Self.complaints(seed &+ UInt64(core) &* 1_000_003, Self.histories / cores) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(found.isEmpty, "\(found.prefix(5).joined(separator: "\n"))")
    }

    /// - Returns: the first problem, if any.
    private static func complaints(_ seed: UInt64, _ count: Int) -> [String] {
        for history in 0..<count {
            let own = seed &+ UInt64(history)
            var world = SchedulerWorld(seed: own)
            for _ in 0..<40 where world.complaints.isEmpty {
                if world.chance(35) { world.disturb() } else { world.goOn() }
                world.requireKnown()
            }
            if world.complaints.isEmpty { world.calmDown() }
            if !world.complaints.isEmpty { return ["seed \(own): \(world.complaints)"] }
        }
        return []
    }
}
