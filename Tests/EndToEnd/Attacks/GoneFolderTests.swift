import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// Jobs wait for files whose folder is no longer where it was when the jobs were planned.
@Suite("Folders that are moved while jobs wait", .timeLimit(.minutes(30)))
struct GoneFolderTests {
    /// What happens to the folder.
    enum Fate: String, CaseIterable, Sendable {
        /// It is renamed within its place.
        case renamed
        /// It moves to where the agent does not look.
        case movedAway
        /// It is renamed, and another folder with another file takes its name.
        case replaced
    }

    @Test("No job of any action is parked: it continues at the file's new location, once", arguments: Fate.allCases)
    func gone(fate: Fate) async throws {
        let steward = try AgentFixture(configuration: AttackedAction.configuration)
        try steward.addPlace("out")
        for action in AttackedAction.all {
            try steward.rule("50-\(action.name).yaml", action.rule(settle: "100ms"))
        }
        try await steward.start()
        try steward.run(["pause"]).check()
        func folder(_ action: AttackedAction, _ name: String) -> BytePath {
            BytePath("dropbox/\(action.name)").appending(name)
        }
        for action in AttackedAction.all {
            let file = folder(action, "old").appending(action.file)
            try steward.moveIn(file, try action.content("A file for \(action)."))
        }
        let count = AttackedAction.all.count
        try await steward.until("all are planned") { try self.planned(steward).count >= count }
        try steward.home.write("elsewhere/here", "")
        for action in AttackedAction.all {
            let old = steward.path(folder(action, "old"))
            let away = steward.home.path.appending("elsewhere").appending(action.name)
            let new = fate == .movedAway ? away : steward.path(folder(action, "new"))
            #expect(rename(old.text, new.text) == 0)
            guard fate == .replaced else { continue }
            let file = folder(action, "old").appending(action.file)
            try steward.moveIn(file, try action.content("Quite another file for \(action)."))
        }
        try steward.run(["resume"]).check()
        let hasRested = try steward.rest()
        #expect(hasRested, "the agent comes to rest")
        let status = try steward.status()
        #expect(status.parked.map { "\($0.rule): \($0.problem)" } == [])
        #expect(status.waiting.map { "\($0.rule): \($0.problem)" } == [])
        let lines = try steward.loggedLines()
        for action in AttackedAction.all {
            let own = lines.filter { $0.path?.text.hasPrefix("\(action.name)/") == true }
            // The jobs that have reached their action's effect.
            let jobs = Set(own.filter { ["step", "asking", "refused"].contains($0.kind) }.compactMap(\.job))
            let told = own.map { "\($0.kind) \($0.path?.text ?? ""): \($0.message)" }.joined(separator: "\n")
            switch fate {
            // The data an action needs of its file may be known since planning.
            case .movedAway: #expect(jobs.count <= 1, "\(action): \(told)")
            case .renamed: #expect(jobs.count == 1, "\(action): \(told)")
            case .replaced: #expect(jobs.count == 2, "\(action): \(told)")
            }
            // No action recreates the folder that its file has left.
            let isBack = try steward.exists(folder(action, "old"))
            #expect(isBack == (fate == .replaced), "\(action): \(told)")
        }
        #expect(try steward.leftovers() == [])
    }

    private func planned(_ steward: AgentFixture) throws -> [LoggedLine] {
        try steward.loggedLines().filter { $0.kind == "planned" }
    }
}
