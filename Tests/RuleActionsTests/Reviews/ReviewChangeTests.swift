import Foundation
import NoteActions
import Platform
import TKCore
import TestSupport
import Testing

/// Programs beside the agent that change a review.
@Suite("Changing a review beside the agent") struct ReviewChangeTests {
    enum Program: String, CaseIterable, CustomTestStringConvertible {
        case findings, journey, answers

        var testDescription: String { rawValue }
    }

    private static let draft: BytePath = "dropbox/Idea 1.md"
    private static let sidecar: BytePath = "dropbox/Idea 1.review.md"

    /// What the sidecar shows afterwards.
    private func change(_ program: Program, _ scene: ActionScene) throws -> String {
        let draft = scene.path(Self.draft)
        let unsaved = UnsavedChanges(environment: ["HOME": scene.home.path.text])
        switch program {
        case .findings:
            let rain = ReportedFinding(
                author: "ann", message: "Too plain.", quote: "it rained", replacement: "the rain fell")
            _ = try ReviewIntake.add([rain], to: draft, unsaved: unsaved)
            return "3 findings."
        case .journey:
            var journey = try DraftJourney(of: draft, unsaved: unsaved)
            try journey.move { journey in
                if journey.stage == .canvas { try journey.start(nil) } else { try journey.advance(open: 0) }
            }
            return "Journey: draft, \(journey.journey.step)"
        case .answers:
            let file = ReviewFiles(draft: draft).state
            let bytes = Array(try TemporaryFolder.text(file).utf8)
            var mine = try ReviewState(json: bytes, at: file)
            if mine.count(.skipped) == 0 { mine.findings[0].state = .skipped }
            let quick = try QuickPass()
            let record = ReviewRecord(of: draft, unsaved, settings: ReviewSettings()) {
                quick.suggestions(for: $0, settings: .init(ignoredRules: $1))
            }
            _ = try record.write(mine, stored: ContentHash(of: bytes), EditorReply())
            return "1 finding, 1 skipped."
        }
    }

    @Test(
        "A sidecar that Neovim has open with unsaved ticks is not written, until they are saved",
        arguments: Program.allCases)
    func unsavedTicks(_ program: Program) async throws {
        let scene = try ActionScene()
        try scene.home.write(Self.draft, ReviewSample.draft)
        try await scene.open().run("review", on: "Idea 1.md")
        let before = try scene.home.read(Self.sidecar)
        var swap = Array("b0VIM 9.1".utf8) + Array(repeating: UInt8(0), count: 4087)
        swap[1007] = 0x55
        let name = scene.path(Self.sidecar).text.replacing("/", with: "%")
        let path = BytePath(".local/state/nvim/swap/\(name).swp")
        try scene.home.write(path, swap)
        let states = try scene.snapshot()
        do {
            _ = try change(program, scene)
            #expect(try scene.snapshot() != states, "the state has it")
        } catch let fault as Fault where program == .findings {
            #expect(fault.kind == .transient && fault.message.contains(".local/state/nvim/swap"), "\(fault)")
            #expect(try scene.snapshot() == states)
        }
        #expect(try scene.home.read(Self.sidecar) == before)
        swap[1007] = 0
        try scene.home.write(path, swap)
        let shown = try change(program, scene)
        #expect(try scene.home.read(Self.sidecar).contains(shown))
        #expect(try scene.home.read("dropbox/.tk/reviews/Idea 1.md.quickfix").contains("Idea 1.md:3:"))
    }
}
