import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Folders and time")
struct TimeFolderTests {
    private let folder: TemporaryFolder
    private let clock: MovedClock

    init() throws {
        folder = try TemporaryFolder()
        // A Monday.
        clock = MovedClock(try #require(DateFormat.date(.text("2026-11-23 12:00"), .gmt)))
    }

    private func bench(_ conditions: String) async throws -> TimeBench {
        try await TimeBench(folder.path, clock, rules: Self.rule(conditions))
    }

    private static func rule(_ conditions: String) -> String {
        "- { rule: R, in: inbox, match: folders, where: { \(conditions) }, do: { probe: { name: r } } }"
    }

    private func judge(_ time: TimeBench) -> FolderJudge {
        FolderJudge(planner: time.bench.planner, inWork: time.bench.inWork)
    }

    private func isWanted(_ path: BytePath, _ time: TimeBench) throws -> Bool {
        let status = try #require(try FileStatus.of(time.bench.path("inbox").appending(path)))
        return judge(time).mightWant(path, in: try time.bench.place("inbox"), status)
    }

    /// As the agent does when the settler reports that it has settled.
    private func see(_ path: BytePath, _ time: TimeBench) async throws {
        guard case .news(let jobs) = try await judge(time).judge(try time.bench.place("inbox"), path) else { return }
        await time.bench.runner.submit(jobs.map { ($0.id, $0.place, $0.path) }, areReady: true)
        try await time.rest()
    }

    private func rows(_ path: BytePath, _ time: TimeBench) async throws -> [DueRecord] {
        try await time.bench.ledger.read { try $0.due("inbox", path) }
    }

    @Test(
        "A folder that no rule matches yet is examined if time may change that, even if name and status are known",
        arguments: [
            "age: { since: arrived, is: \"> 1h\" }", "age: { since: accessed, is: \"> 3000d\" }",
            "age: { since: name, is: \"> 1d\" }", "time: \"13:00-14:00\"", "weekday: tuesday",
        ])
    func wanted(_ conditions: String) async throws {
        let time = try await bench(conditions)
        try time.write("inbox/Lisbon 2026-11-23/1.jpg")
        #expect(try isWanted("Lisbon 2026-11-23", time))
        try await see("Lisbon 2026-11-23", time)
        #expect(time.ran == [])
        #expect(try await time.due().map(\.path) == ["Lisbon 2026-11-23"])
    }

    @Test("The rule runs at its time")
    func arrives() async throws {
        let time = try await bench("age: { since: arrived, is: \"> 1h\" }")
        try time.write("inbox/Lisbon/1.jpg")
        try await see("Lisbon", time)
        try await time.jump(2 * hour)
        #expect(time.wantsJudged == ["Lisbon"])
        try await see("Lisbon", time)
        #expect(time.ran == ["perform r Lisbon"])
        #expect(try await rows("Lisbon", time).isEmpty)
    }

    @Test("One that its name or status rules out forever is not examined")
    func unwanted() async throws {
        let time = try await bench("name: \"Porto*\", age: { since: arrived, is: \"> 1h\" }")
        try time.write("inbox/Lisbon/1.jpg")
        #expect(try !isWanted("Lisbon", time))
    }

    @Test(
        "Due times of a removed rule are forgotten, and wake nobody again",
        arguments: [
            "[]", "- { rule: F, in: inbox, do: { probe: { name: f } } }", rule("name: \"Porto*\""),
            rule("name: \"Porto*\", age: \"> 9d\""),
        ])
    func orphaned(_ rules: String) async throws {
        let time = try await bench("age: \"> 1h\"")
        try time.write("inbox/Lisbon/1.jpg")
        try await see("Lisbon", time)
        #expect(try await rows("Lisbon", time).count == 1)
        try await time.setRules(rules)
        try await time.jump(2 * hour)
        #expect(try await rows("Lisbon", time).isEmpty)
        #expect(time.alarm.time == nil)
    }

    @Test("So are those of a folder that is now another place, or contains one", arguments: ["", "/July"])
    func nested(below: String) async throws {
        do {
            let time = try await bench("age: \"> 1h\"")
            try time.write("inbox/Lisbon/1.jpg")
            try await see("Lisbon", time)
            #expect(try await rows("Lisbon", time).count == 1)
            await time.keeper.stop()
            try time.bench.ledger.close()
        }
        let root = folder.path.appending(BytePath("inbox/Lisbon\(below)"))
        let time = try await TimeBench(
            folder.path, clock, rules: Self.rule("age: \"> 1h\""),
            adding: [PlaceInfo(name: "album", kind: .folder, root: root)])
        try await time.jump(2 * hour)
        #expect(time.wantsJudged == [])
        #expect(try await rows("Lisbon", time).isEmpty)
        #expect(time.alarm.time == nil)
    }

    @Test(
        "So are times that passed while the agent was off",
        arguments: ["age: [\"> 13h\", \"< 14h\"]", "age: { since: name, is: [\"> 13h\", \"< 14h\"] }"])
    func missed(_ conditions: String) async throws {
        let time = try await bench(conditions)
        try time.write("inbox/2026-11-23/1.jpg", age: 12 * hour)
        try await see("2026-11-23", time)
        #expect(try await rows("2026-11-23", time).count == 1)
        try await time.jump(5 * hour)
        if time.wantsJudged == ["2026-11-23"] { try await see("2026-11-23", time) }
        #expect(try await rows("2026-11-23", time).isEmpty)
        try await time.pass(day)
        #expect(time.ran == [] && time.alarm.time == nil)
    }
}
