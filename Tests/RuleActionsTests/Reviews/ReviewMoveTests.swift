import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import Rules
import TKCore
import TestSupport
import Testing

/// A review that follows its renamed draft.
@Suite("Moving reviews") struct ReviewMoveTests {
    private static let draft: BytePath = "dropbox/Novel.md"
    private static let sidecar: BytePath = "dropbox/Novel.review.md"

    /// What was done under the new name before the review followed.
    enum Begun: String, CaseIterable, CustomTestStringConvertible {
        case nothing, skip, finding, findingAndTicks, ticksAfterCrash

        var testDescription: String { rawValue }

        /// What the sidecar says afterwards. Of the old review's two findings, the second was skipped.
        var sidecar: String {
            switch self {
            case .nothing: "1 finding, 1 skipped."
            case .skip: "No findings, 2 skipped."
            case .finding: "2 findings, 1 skipped."
            case .findingAndTicks: "No findings, 2 accepted, 1 skipped."
            case .ticksAfterCrash: "No findings, 1 accepted, 1 skipped."
            }
        }

        var draft: String {
            switch self {
            case .nothing, .skip, .finding: ReviewSample.draft
            case .findingAndTicks: ReviewSample.accepted.replacing("it rained", with: "the rain fell")
            case .ticksAfterCrash: ReviewSample.accepted
            }
        }

        func carryOut(_ scene: ActionScene) throws {
            let draft = scene.path(ReviewMoveTests.draft)
            let unsaved = UnsavedChanges(environment: ["HOME": scene.home.path.text])
            switch self {
            case .nothing: break
            case .skip:
                let quick = try QuickPass()
                let pass: ReviewRound.Pass = { quick.suggestions(for: $0, settings: .init(ignoredRules: $1)) }
                var mine = ReviewRound(
                    of: DraftText(ReviewSample.draft), known: ReviewState(draft: "Novel.md"), sidecar: nil,
                    settings: ReviewSettings(), mayWrite: false, pass: pass
                ).state
                mine.findings[0].state = .skipped
                _ = try ReviewRecord(of: draft, unsaved, settings: ReviewSettings(), pass: pass)
                    .write(mine, stored: nil, EditorReply())
            case .finding, .findingAndTicks:
                let rain = ReportedFinding(
                    author: "ann", message: "Too plain.", quote: "it rained", replacement: "the rain fell")
                _ = try ReviewIntake.add([rain], to: draft, unsaved: unsaved)
                guard self == .findingAndTicks else { return }
                // One in each sidecar.
                let old = try scene.home.read("dropbox/Idea 1.review.md")
                try write(scene.path("dropbox/Idea 1.review.md"), ReviewSample.answer(old, ["x"]))
                let new = try scene.home.read(ReviewMoveTests.sidecar)
                try write(scene.path(ReviewMoveTests.sidecar), ReviewSample.answer(new, ["x"]))
            case .ticksAfterCrash:
                let old = try scene.home.read("dropbox/Idea 1.review.md")
                let new = old.replacing("Idea 1.md", with: "Novel.md")
                try scene.home.write(ReviewMoveTests.sidecar, ReviewSample.answer(new, ["x"]))
            }
        }
    }

    @Test("What was begun under the new name counts as well", arguments: Begun.allCases)
    func merged(_ begun: Begun) async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        try scene.home.write("dropbox/Idea 1.md", ReviewSample.draft)
        try await world.run("review", on: "Idea 1.md")
        let path = scene.path("dropbox/Idea 1.review.md")
        try write(path, ReviewSample.answer(try TemporaryFolder.text(path), [" ", "-"]))
        try await world.run("review", on: "Idea 1.review.md", step: "skip.0")
        try FileManager.default.moveItem(
            atPath: scene.path("dropbox/Idea 1.md").text, toPath: scene.path(Self.draft).text)
        try begun.carryOut(scene)
        try await Self.follow(world)
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains(begun.sidecar) && text.hasPrefix("<!-- steward review 1 of Novel.md -->\n"), "\(text)")
        #expect(try scene.home.read(Self.draft) == begun.draft)
        let names = try scene.snapshot().keys.filter { $0.hasPrefix("dropbox/") }
        #expect(names.allSatisfy { !$0.contains("Idea 1") && !$0.contains(".json.") }, "\(names)")
        #expect(names.count { $0.hasSuffix(".md") } == 2, "no copy is kept: \(names)")
        try await Self.follow(world, step: "again.0")
        #expect(try scene.home.read(Self.sidecar) == text)
    }

    private static func follow(_ world: ActionWorld, step: String = "follow.0") async throws {
        let action = try world.action("review")
        let intent = try await action.decided(world.input("Novel.md", step: step, former: "Idea 1.md"))
        _ = try await action.performed(intent, step: step)
    }

    @Test(
        "A draft's removal puts its review away, unless it was renamed",
        arguments: [nil, "Novel.md", "Gone.md"] as [String?])
    func removed(_ name: String?) async throws {
        let scene = try await Self.ticked()
        let sidecar: BytePath = "dropbox/Idea 1.review.md"
        let state = try ReviewState(
            json: Array(try scene.home.read("dropbox/.tk/reviews/Idea 1.md.json").utf8), at: "Idea 1.md.json")
        try scene.home.write(sidecar, ReviewSidecar.text(state))
        let before = try scene.snapshot()
        let world = try scene.open()
        let file = FileReference(
            place: "dropbox", root: scene.path("dropbox"), path: "Idea 1.md", fingerprint: nil, hash: nil,
            renamedTo: name.map { BytePath($0) })
        let input = StepInput(
            jobID: "gone", stepID: "gone.0", rule: "Sample", event: .removed, file: file, arrival: ActionWorld.arrival,
            values: [:], attempt: 0, files: world.journal.files())
        let action = try world.action("review")
        _ = try await action.performed(try await action.decided(input), step: "gone.0")
        #expect(try (scene.snapshot() == before) == (name == "Novel.md"))
        #expect(try scene.exists(sidecar) == (name == "Novel.md"))
    }

    // MARK: Killing

    /// A renamed draft whose review has ticks that nobody has read yet, and the move as decided.
    private static func ticked() async throws -> ActionScene {
        let scene = try ActionScene()
        let reviewed = try #require(ReviewSample.reviewed)
        try scene.home.write(draft, ReviewSample.draft)
        try scene.home.write("dropbox/Idea 1.review.md", reviewed.ticked)
        try scene.home.write("dropbox/.tk/reviews/Idea 1.md.json", reviewed.state)
        try scene.home.write("dropbox/.tk/reviews/Idea 1.md.quickfix", "Idea 1.md:1:1: wordy\n")
        let world = try scene.open()
        let intent = try await world.action("review").decided(world.input("Novel.md", former: "Idea 1.md"))
        try scene.home.write("intent.json", intent)
        return scene
    }

    @Test("Wherever a move is killed, draft, sidecar and state end up together") func killed() async throws {
        let whole = try await Self.ticked()
        _ = try await whole.open().action("review").performed(try whole.home.read("intent.json"), step: "job.0")
        let wanted = try whole.snapshot()
        #expect(try whole.home.read(Self.draft) == ReviewSample.accepted)
        #expect(try whole.home.read(Self.sidecar).contains("No findings, 1 accepted, 1 skipped."))
        #expect(wanted.keys.allSatisfy { !$0.contains("Idea 1") })
        let counted = try await Self.ticked()
        await #expect(processExitsWith: .success) { [home = counted.home.path.text as String] in
            let points = try await CrashChild.perform("review", in: home, killedAt: .max)
            try write(BytePath("\(home)/points"), String(points))
        }
        let points = Int(try counted.home.read("points")) ?? 0
        #expect(points > 0)
        var random = SeededGenerator(for: "kills in a review's move")
        for number in Thoroughness.sample(1..<(points + 1), 8, &random) {
            let scene = try await Self.ticked()
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [home = scene.home.path.text as String, number = number as Int] in
                _ = try await CrashChild.perform("review", in: home, killedAt: number)
            }
            let world = try scene.open()
            try await world.notes.recover()
            let action = try world.action("review")
            switch try await action.recovered(try scene.home.read("intent.json"), step: "job.0") {
            case .done: break
            case .notDone: try await Self.follow(world, step: "job.0")
            case .unknown(let why): Issue.record("unknown: \(why)")
            }
            #expect(try scene.snapshot() == wanted, "killed at point \(number) of \(points)")
        }
    }
}
