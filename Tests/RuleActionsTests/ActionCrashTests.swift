import Foundation
import Glibc
import Ledger
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// Each action is killed between any two of its system calls, in a separate process, and recovered by the next.
@Suite("Killing actions") struct ActionCrashTests {
    static let samples = ActionSample.all.filter { $0.action != "run" }

    /// Of each sample, at points by chance; `make campaign` kills it at all of them.
    private static let kills = 8

    @Test("Wherever it is killed, the effect happens once", arguments: samples) func whereverKilledEffect(
        _ sample: ActionSample
    ) async throws {
        let wanted = try await {
            let scene = try sample.scene()
            try await scene.open().run(sample.entry, on: sample.file)
            return try scene.snapshot()
        }()
        let points = try await points(sample)
        #expect(points > 0)
        var random = SeededGenerator(for: "kills in \(sample.action)")
        for number in Thoroughness.sample(1..<(points + 1), Self.kills, &random) {
            let scene = try sample.scene()
            try await decide(sample, in: scene)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [home = scene.home.path.text as String, name = sample.testDescription as String, number = number as Int]
                in
                _ = try await CrashChild.perform(name, in: home, killedAt: number)
            }
            try await finish(sample, in: scene)
            #expect(try scene.snapshot() == wanted, "killed at point \(number) of \(points)")
        }
    }

    @Test(
        "Wherever its undo is killed, the next one completes it",
        arguments: samples.filter { !["delete", "notify"].contains($0.action) })
    func whereverUndoKilled(
        _ sample: ActionSample
    ) async throws {
        // The other file system's trash folder is created once and stays, so it is not counted.
        let first = try sample.scene()
        try await perform(sample, in: first)
        try await finishUndo(sample, in: first)
        let done = try sample.scene()
        try await perform(sample, in: done)
        await #expect(processExitsWith: .success) {
            [home = done.home.path.text as String, name = sample.testDescription as String] in
            let points = try await CrashChild.undo(name, in: home, killedAt: .max)
            try write(BytePath("\(home)/points"), String(points))
        }
        let wanted = try done.snapshot()
        try await finishUndo(sample, in: done)
        #expect(try done.snapshot() == wanted, "not recorded, it is asked for again")
        let points = Int(try done.home.read("points")) ?? 0
        // Deleting a row from a database passes no points.
        #expect(points > 0 || sample.action == "index-capture")
        var random = SeededGenerator(for: "kills in the undo of \(sample.action)")
        for number in Thoroughness.sample(1..<(points + 1), Self.kills, &random) {
            let scene = try sample.scene()
            try await perform(sample, in: scene)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [home = scene.home.path.text as String, name = sample.testDescription as String, number = number as Int]
                in
                _ = try await CrashChild.undo(name, in: home, killedAt: number)
            }
            try await finishUndo(sample, in: scene)
            #expect(try scene.snapshot() == wanted, "killed at point \(number) of \(points)")
        }
    }

    /// How many points a run passes.
    private func points(_ sample: ActionSample) async throws -> Int {
        let scene = try sample.scene()
        try await decide(sample, in: scene)
        await #expect(processExitsWith: .success) {
            [home = scene.home.path.text as String, name = sample.testDescription as String] in
            let points = try await CrashChild.perform(name, in: home, killedAt: .max)
            try write(BytePath("\(home)/points"), String(points))
        }
        return Int(try scene.home.read("points")) ?? 0
    }

    private func perform(_ sample: ActionSample, in scene: ActionScene) async throws {
        let world = try scene.open()
        let deed = try await world.run(sample.entry, on: sample.file)
        try scene.home.write("intent.json", deed.intent)
        try scene.home.write("receipt.json", try LedgerJSON.encode(deed.receipt))
        // As the runner does when it has the receipt.
        try await world.ledger.write { try $0.clearStaged(job: deed.step) }
    }

    private func finishUndo(_ sample: ActionSample, in scene: ActionScene) async throws {
        let world = try scene.open()
        try await world.notes.recover()
        _ = try await world.action(sample.entry).undone(
            try scene.home.read("intent.json"),
            try LedgerJSON.decode(Receipt.self, from: try scene.home.read("receipt.json")), step: "job.0", resumes: true
        )
    }

    private func decide(_ sample: ActionSample, in scene: ActionScene) async throws {
        let world = try scene.open()
        let intent = try await world.action(sample.entry).decided(world.input(sample.file))
        try scene.home.write("intent.json", intent)
    }

    /// The next run: begun work is examined, and repeated if it was not done.
    private func finish(_ sample: ActionSample, in scene: ActionScene) async throws {
        let world = try scene.open()
        try await world.notes.recover()
        let action = try world.action(sample.entry)
        switch try await action.recovered(try scene.home.read("intent.json"), step: "job.0") {
        case .done: break
        case .notDone: try await world.run(sample.entry, on: sample.file)
        case .unknown(let why): Issue.record("unknown: \(why)")
        }
    }
}

/// What the killed process does.
enum CrashChild {
    /// - Returns: how many points were passed.
    static func perform(_ name: String, in home: String, killedAt number: Int) async throws -> Int {
        setenv("STEWARD_FAULT", "*:\(number)", 1)
        let sample = try ActionSample.named(name)
        let world = try ActionWorld(BytePath(home))
        let intent = String(decoding: try Descriptor(BytePath(home).appending("intent.json")).readAll(), as: UTF8.self)
        _ = try await world.action(sample.entry).performed(intent, step: "job.0")
        return FaultPoint.reached
    }

    /// - Returns: how many points were passed.
    static func undo(_ name: String, in home: String, killedAt number: Int) async throws -> Int {
        setenv("STEWARD_FAULT", "*:\(number)", 1)
        let sample = try ActionSample.named(name)
        let world = try ActionWorld(BytePath(home))
        func text(_ name: BytePath) throws -> String {
            String(decoding: try Descriptor(BytePath(home).appending(name)).readAll(), as: UTF8.self)
        }
        let receipt = try LedgerJSON.decode(Receipt.self, from: try text("receipt.json"))
        _ = try await world.action(sample.entry).undone(try text("intent.json"), receipt, step: "job.0")
        return FaultPoint.reached
    }
}
