import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// The agent is killed right after each of its commits, to the ledger and to the capture store, while each action
/// processes one file; then at every other point of its work. The next start has to end in the same state as an
/// undisturbed run.
///
/// A few rounds per action; with `STEWARD_TEST_WHOLE=1` (`make campaign`) one per commit, and at least 1,000 in all.
@Suite("The campaign of kills")
struct KillCampaignTests {
    /// Minimum number of rounds per action.
    private static let rounds =
        Thoroughness.isWhole ? (1_000 + AttackedAction.all.count - 1) / AttackedAction.all.count : 1
    /// More commits than any action makes.
    private static let most = 500

    @Test(
        "Killed between any two of its transactions, the agent ends in the same state as an undisturbed run",
        arguments: AttackedAction.all)
    func everyCommit(_ action: AttackedAction) async throws {
        var random = SeededGenerator(for: "the campaign of kills, \(action)")
        let wanted = try await undisturbed(action)
        var (kills, commits) = (0, 0)
        if Thoroughness.isWhole {
            // Commit after commit until a run passes without a kill, then random points.
            while commits < Self.most, try await round(action, "committed:\(commits + 1)", wanted) { commits += 1 }
            #expect(commits < Self.most, "there is always one more")
            kills = commits
            for _ in 0..<10 * Self.rounds where kills < max(Self.rounds, commits + 5) {
                let point = "*:\(Int.random(in: 1...10 * (commits + 1), using: &random))"
                if try await round(action, point, wanted) { kills += 1 }
            }
        } else {
            // The cheapest action makes ten commits; after a run with fewer, a lower number is drawn.
            var number = Int.random(in: 1...10, using: &random)
            while try await !round(action, "committed:\(number)", wanted), number > 1 {
                number = Int.random(in: 1..<number, using: &random)
            }
            kills = 1
        }
        print("the campaign of kills: \(action), \(kills) kills, \(commits) of them one after each commit")
    }

    @Test("Killed while recording why a file was refused, it leaves nothing unremovable in quarantine")
    func reasons() async throws {
        let action = try #require(AttackedAction.all.first { $0.name == "quarantine" })
        let wanted = try await undisturbed(action)
        // The reason is written twice, as text and as JSON.
        for point in ["named:1", "named:2", "replaced:1"] { _ = try await round(action, point, wanted) }
    }

    private func undisturbed(_ action: AttackedAction) async throws -> Ending {
        let run = try Run(action)
        guard try await !run.isKilled(at: nil) else { throw TestFailure("the agent ended by itself") }
        let ending = try run.ending()
        try await run.steward.stop()
        return ending
    }

    /// - Returns: whether the agent was killed; otherwise it had finished before that point.
    private func round(_ action: AttackedAction, _ point: String, _ wanted: Ending) async throws -> Bool {
        let run = try Run(action)
        let isKilled = try await run.isKilled(at: point)
        if isKilled {
            try await run.steward.start()
            try run.steward.wait()
        }
        let found = try run.ending()
        // A program may not be run again: its guarantee is "at most once", so its job waits for a person instead.
        if action.name == "run", found.jobs.keys.contains("parked") {
            #expect(found.jobs == ["parked": 1], "killed at \(point)")
        } else if found != wanted {
            let log = try run.steward.run(["log"]).output
            Issue.record("\(action), killed at \(point):\n\(found.differences(from: wanted))\n\(log)")
        }
        try await run.steward.stop()
        return isKilled
    }
}

/// A home with one file waiting for one action.
private final class Run {
    let steward: AgentFixture
    private let action: AttackedAction

    init(_ action: AttackedAction) throws {
        self.action = action
        steward = try AgentFixture(configuration: AttackedAction.configuration)
        try steward.addPlace("out")
        try steward.rule(action.rule(settle: "50ms"))
        try steward.drop("notes/shared/inbox.md", "Mine.\n")
        try steward.moveIn(BytePath("dropbox/\(action.name)/x/\(action.file)"), action.content("A file for \(action)."))
    }

    /// Starts the agent and waits until it has finished, or was killed at the point.
    func isKilled(at point: String?) async throws -> Bool {
        steward.variables["STEWARD_FAULT"] = point
        let process = try await steward.launch()
        steward.variables["STEWARD_FAULT"] = nil
        try await steward.until("all is done", seconds: 300) {
            !process.isRunning || (steward.ask("wait") != nil && states().keys.contains(action.outcome))
        }
        guard !process.isRunning else { return false }
        guard process.terminationReason == .uncaughtSignal, process.terminationStatus == SIGKILL else {
            throw TestFailure("the agent ended by itself, with \(process.terminationStatus):\n\(try steward.log())")
        }
        return true
    }

    private func states() -> [String: Int] {
        // The kill may cut an answer off.
        guard let reply = steward.ask("status"), let answer = try? Answer(parsing: reply) else { return [:] }
        let jobs = answer["answer"]["jobs"]
        return Dictionary(uniqueKeysWithValues: jobs.keys.map { ($0, Int(jobs[$0].number ?? 0)) }).filter {
            $0.value > 0
        }
    }

    func ending() throws -> Ending {
        var files: [String: String] = [:]
        let folders = (steward.places + ["out"]).map { BytePath("Steward/\($0)") }
        for folder in folders + [".local/share/Trash", ".local/state/steward/quarantine"] {
            try look(steward.home.path.appending(folder), &files)
        }
        let store = steward.home.path.appending(".local/share/steward/captures/captures.sqlite")
        let captures =
            try FileStatus.of(store) == nil
            ? "" : steward.shell(["sqlite3", store.text, "SELECT noteText FROM experience ORDER BY 1"]).output
        let events = try steward.json(["outbox"]).items.count
        return Ending(files: files, jobs: states(), captures: captures, events: events)
    }

    /// Every file and folder below, with its content.
    private func look(_ folder: BytePath, _ files: inout [String: String]) throws {
        guard try FileStatus.of(folder) != nil else { return }
        for entry in try listDirectory(folder) {
            let path = folder.appending(name: entry.name)
            guard let status = try FileStatus.of(path) else { continue }
            if status.kind == .directory {
                try look(path, &files)
                continue
            }
            var text = "\(String(status.mode, radix: 8)) "
            if status.kind == .link {
                text += "-> " + (path.real.map(\.text) ?? "nowhere")
            } else {
                let file = try Descriptor(path)
                text += try ExtendedAttributes.names(of: file).filter { $0.hasPrefix("user.") }.sorted().joined(
                    separator: " ")
                // For archives, only the size: their bytes contain times.
                let bytes = try file.readAll()
                text += String(validating: bytes, as: UTF8.self).map { "\n" + $0 } ?? " \(bytes.count) bytes"
            }
            files[plain(path.text)] = plain(text)
        }
    }

    /// The text without the home, times, ids and numbers, which differ between runs.
    private func plain(_ text: String) -> String {
        text.replacingOccurrences(of: steward.home.path.text, with: "~")
            .replacing(/\b(?=[0-9a-zA-Z]*[0-9])[0-9a-zA-Z]{6,}\b/, with: "#")
            .replacing(/\^[a-z0-9-]+/, with: "^#").replacing(/[0-9]+/, with: "0")
    }
}

/// The state when everything is done.
private struct Ending: Equatable {
    let files: [String: String]
    let jobs: [String: Int]
    let captures: String
    /// In the outbox.
    let events: Int

    func differences(from wanted: Ending) -> String {
        var lines = Set(files.keys).union(wanted.files.keys).sorted().filter { files[$0] != wanted.files[$0] }
            .map { "\($0): \(files[$0] ?? "nothing"), not \(wanted.files[$0] ?? "nothing")" }
        if jobs != wanted.jobs { lines.append("jobs: \(jobs), not \(wanted.jobs)") }
        if captures != wanted.captures { lines.append("captures: \(captures), not \(wanted.captures)") }
        if events != wanted.events { lines.append("\(events) events, not \(wanted.events)") }
        return lines.joined(separator: "\n")
    }
}
