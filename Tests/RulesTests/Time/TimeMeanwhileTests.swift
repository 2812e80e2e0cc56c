import Foundation
import Ledger
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Rules

@Suite("Entries made while a due file is examined")
struct TimeMeanwhileTests {
    private let folder: TemporaryFolder
    private let clock: MovedClock
    private static let path: BytePath = "a.txt"

    init() throws {
        folder = try TemporaryFolder()
        clock = MovedClock(try #require(DateFormat.date(.text("2026-11-23 12:00"), .gmt)))
    }

    enum Entry: CaseIterable {
        case becomes, scheduled, unreckoned

        func kind(_ old: String, _ night: String, _ now: Timestamp) -> DueRecord.Kind {
            switch self {
            case .becomes: .becomes(rule: old)
            case .scheduled: .scheduled(rule: night, instant: now)
            case .unreckoned: .unreckoned(since: now)
            }
        }
    }

    /// - Parameter ask: when it is entered: before the ledger is asked for the file's state, or after that.
    @Test(
        "An oversized file has nothing due, but entries made meanwhile are not lost",
        arguments: Entry.allCases, [1, 2])
    func tooLarge(_ entry: Entry, _ ask: Int) async throws {
        let small = PlaceInfo(name: "small", kind: .folder, root: folder.path.appending("small"), sizeLimit: 8)
        let time = try await TimeBench(
            folder.path, clock,
            rules: """
                - { rule: Old, in: small, where: { age: "> 1h", text: { contains: x } }, do: { probe: { name: old } } }
                - { rule: Night, in: small, every: 1d, do: { probe: { name: night } } }
                """, adding: [small])
        let (ledger, planner) = (time.bench.ledger, time.bench.planner)
        func due() async throws -> [DueRecord] { try await ledger.read { try $0.due("small", Self.path) } }
        func identity(_ rule: String) throws -> String {
            planner.ruleSet.identity(of: try #require(planner.ruleSet[rule]))
        }
        let (old, night) = (try identity("Old"), try identity("Night"))
        try time.write("small/a.txt", "x and more than eight bytes")
        try await time.bench.process(Self.path, in: "small")
        #expect(try await due().map(\.kind) == [.becomes(rule: old)])

        clock.advance(2 * hour)
        let now = clock.now
        let asked = Mutex<(count: Int, failure: (any Error)?)>((0, nil))
        let verdict = try await planner.judgeDue(Self.path, in: small) {
            asked.withLock { asked in
                asked.count += 1
                guard asked.count == ask else { return }
                do {
                    try ledger.writeBlocking { transaction in
                        switch entry {
                        case .becomes: try transaction.setDue("small", Self.path, [old: now.adding(seconds: hour)])
                        case .scheduled: try transaction.setScheduled("small", Self.path, rule: night, instant: now)
                        case .unreckoned: try transaction.setUnreckoned("small", Self.path, since: now)
                        }
                    }
                } catch {
                    asked.failure = error
                }
            }
            return true
        }
        #expect(asked.withLock { $0.failure } == nil)
        #expect(verdict == .again)
        #expect(
            try await due().contains { $0.kind == entry.kind(old, night, now) && (entry != .becomes || $0.due > now) })

        // A remaining row would wake the agent forever.
        #expect(try await planner.judgeDue(Self.path, in: small) { true } == .met([]))
        #expect(try await due() == [])
        #expect(time.ran == [])
    }
}
