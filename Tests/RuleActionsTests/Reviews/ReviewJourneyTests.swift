import NoteActions
import Platform
import Rules
import TKCore
import TestSupport
import Testing

/// `[?]`, the journey's header and values, and what advisors are sent in later cycles.
@Suite("Cycles of a review", .timeLimit(.minutes(30))) struct ReviewJourneyTests {
    private typealias Scene = ReviewModelScene

    private static let entry = "review: { passes: [quick, advisors], advisors: [editor] }"
    private static let sidecar: BytePath = "Idea 1.review.md"
    private static let draft = "The rain fell on the old town.\n\nIt was late.\n\nWe went home.\n"
    private static let remark = Scene.list([Scene.item("old town", "old city", by: "editor")])

    /// Finds fault with the old town, and answers `[?]`.
    private static func scene(
        _ draft: String = Self.draft, another: ScriptedServer.Answer = .message("{}")
    ) throws -> Scene {
        try Scene(draft) { isAsking($0) ? another : .message(remark) }
    }

    static func isAsking(_ request: ScriptedServer.Request) -> Bool {
        request.body.contains("has not taken a suggestion")
    }

    /// Marks the first block with `[?]`, with words behind its head and below it.
    private static func ask(_ scene: Scene, _ words: String = "", below: String = "") throws {
        var isAsked = false
        let lines = try scene.sidecar.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            guard !isAsked, line.hasPrefix("- [ ]") else { return [String(line)] }
            isAsked = true
            return ["- [?]" + line.dropFirst(5) + words] + (below.isEmpty ? [] : ["", below])
        }
        try write(scene.scene.path("dropbox/Idea 1.review.md"), lines.joined(separator: "\n"))
    }

    private static func save(_ scene: Scene, _ text: String) throws {
        try write(scene.scene.path("dropbox/Idea 1.md"), text)
    }

    // MARK: Another proposal

    @Test(
        "A finding's advisor proposes other words and answers the question, once",
        arguments: [(" Why a city?", ""), ("", "  Why a city?"), ("", "> Why a\n  city?")])
    func another(_ words: String, _ below: String) async throws {
        let answer = #"{"replacement":"historic town","reason":"The usual term.","answer":"Towns [x] are small."}"#
        let scene = try Self.scene(another: .message(answer))
        let world = try scene.open()
        try await world.run(Self.entry, on: Scene.file)
        try Self.ask(scene, words, below: below)
        try await world.run(Self.entry, on: Self.sidecar, step: "ask.0")
        let body = try #require(scene.server.requests.last?.body)
        #expect(Self.isAsking(scene.server.requests[1]) && scene.server.requests.count == 2)
        #expect(body.contains("The writer asks: Why a city?") && body.contains("old city"))
        let shown = try scene.sidecar
        #expect(shown.contains("  historic town\n") && !shown.contains("  old city\n"), "\(shown)")
        #expect(shown.contains("  You asked: Why a city?\n\n  editor: Towns ") && shown.contains("\n- [ ] **"))
        #expect(try scene.scene.everything().keys.allSatisfy { !$0.contains("reviews/Idea 1.review.") }, "no copy")
        // Its words stay, whatever is found later, and can be ticked.
        try Self.save(scene, Self.draft + "\nThe end.\n")
        try await world.run(Self.entry, on: Scene.file, step: "later.0")
        #expect(try scene.sidecar.contains("  historic town\n") && scene.server.requests.count == 3)
        try scene.answer("x")
        try await world.run(Self.entry, on: Self.sidecar, step: "tick.0")
        #expect(try scene.text.hasPrefix("The rain fell on the historic town.\n"))
    }

    @Test("An advisor that cannot be asked is named in the block, and the finding stays open")
    func unanswered() async throws {
        let scene = try Self.scene(another: .complaint(401, "authentication_error"))
        let world = try scene.open()
        try await world.run(Self.entry, on: Scene.file)
        try Self.ask(scene)
        try await world.run(Self.entry, on: Self.sidecar, step: "ask.0")
        #expect(try scene.sidecar.contains("  editor: There is no answer: ") && scene.sidecar.contains("  old city\n"))
        #expect(try scene.sidecar.contains("\n- [ ] **"))
    }

    @Test(
        "A rule without a model answers in place, and asks nobody",
        arguments: [("", AnotherProposal.noOther), (" Why?", "asks no model")])
    func quick(_ words: String, _ reply: String) async throws {
        let scene = try Scene()
        let world = try scene.open()
        try await world.run("review", on: Scene.file)
        try Self.ask(scene, words)
        try await world.run("review", on: Self.sidecar, step: "ask.0")
        #expect(try scene.sidecar.contains("  quick: ") && scene.sidecar.contains(reply))
        #expect(scene.server.requests.isEmpty)
    }

    @Test("A rule with a model asks it about a finding of the quick pass that has no other wording")
    func quickWithModel() async throws {
        let scene = try Scene { request in
            .message(
                Self.isAsking(request) ? #"{"replacement":"so that we could","answer":""}"# : Scene.list([]))
        }
        let world = try scene.open()
        try await world.run(Self.entry, on: Scene.file)
        try Self.ask(scene)
        try await world.run(Self.entry, on: Self.sidecar, step: "ask.0")
        #expect(try scene.sidecar.contains("  so that we could\n") && scene.server.requests.count == 2)
    }

    // MARK: Header and values

    @Test("The header and the values count findings, answers, cycles and cost")
    func header() async throws {
        let scene = try Self.scene()
        let world = try scene.open()
        var deed = try await world.run(Self.entry, on: Scene.file)
        var shown = try scene.sidecar
        #expect(shown.contains("\nJourney: canvas · cycle 1 · 1 received, 0 taken, 0 skipped · $0.0"), "\(shown)")
        try write(
            scene.scene.path("dropbox/Idea 1.review.md"),
            ReviewSample.answer(shown, ["x"]).replacing("  old city", with: "  village"))
        deed = try await world.run(Self.entry, on: Self.sidecar, step: "tick.0")
        shown = try scene.sidecar
        #expect(shown.contains("\nJourney: canvas · cycle 1 · 1 received, 1 taken (1 edited), 0 skipped · $0.0"))
        let values = deed.receipt.values
        #expect(values["review.stage"] == .text("canvas") && values["review.cycle"] == .integer(1))
        #expect(values["review.received"] == .integer(1) && values["review.taken"] == .integer(1))
        #expect(values["review.edited"] == .integer(1) && values["review.declined"] == .integer(0))
        guard case .text(let cost)? = values["review.cost"] else { throw TestFailure("no cost") }
        #expect(cost.hasPrefix("$0.0") && shown.contains(cost))
    }

    @Test("An old state without a journey is counted from what it holds")
    func oldState() async throws {
        let scene = try Scene()
        let world = try scene.open()
        try await world.run("review", on: Scene.file)
        let path = scene.scene.path("dropbox/.tk/reviews/Idea 1.md.json")
        let json = try scene.scene.home.read("dropbox/.tk/reviews/Idea 1.md.json")
        var state = try ReviewState(json: Array(json.utf8), at: path)
        (state.journey, state.content) = (nil, nil)
        try write(path, try state.json())
        try await world.run("review", on: Scene.file, step: "later.0")
        #expect(try scene.sidecar.contains("\nJourney: canvas · cycle 0 · 1 received, 0 taken, 0 skipped\n"))
    }

    // MARK: Stages

    @Test("Advisors are told kind and stage, and a final text is not sent")
    func stages() async throws {
        let scene = try Scene(Self.draft) { _ in .message(Scene.list([])) }
        let world = try scene.open()
        let path = scene.scene.path("dropbox/Idea 1.md")
        func step(_ number: Int, _ move: (inout JourneyState) throws -> Void) async throws -> String? {
            var draft = try DraftJourney(of: path)
            try draft.move(move)
            let before = scene.server.requests.count
            let deed = try await world.run(Self.entry, on: Scene.file, step: "\(number).0")
            #expect(deed.receipt.values["review.stage"] == .text(draft.journey.step))
            return scene.server.requests.count > before ? scene.server.requests.last?.body : nil
        }
        let early = try await step(1) { try $0.start("blog_personal") }
        #expect(early?.contains("DRAFT STAGE: EARLY") == true && early?.contains("GENRE CONTEXT") == true)
        #expect(try await step(2) { try $0.advance(open: 0) }?.contains("DRAFT STAGE: MIDDLE") == true)
        #expect(try await step(3) { try $0.advance(open: 0) }?.contains("DRAFT STAGE: LATE") == true)
        #expect(try await step(4) { try $0.advance(open: 0) } == nil, "the same is asked in revise")
        try Self.save(scene, "All new.\n")
        #expect(try await step(5) { try $0.advance(open: 0) } == nil)
        #expect(try await step(6) { try $0.back() }?.contains("DRAFT STAGE: LATE") == true)
    }

    @Test("Moving a draft shows in its sidecar, unless somebody has written into that")
    func moving() async throws {
        let scene = try Scene()
        let world = try scene.open()
        try await world.run("review", on: Scene.file)
        var draft = try DraftJourney(of: scene.scene.path("dropbox/Idea 1.md"))
        try draft.move(isDryRun: true) { try $0.start(nil) }
        #expect(try scene.sidecar.contains("Journey: canvas"))
        draft = try DraftJourney(of: scene.scene.path("dropbox/Idea 1.md"))
        try draft.move { try $0.start(nil) }
        #expect(try scene.sidecar.contains("Journey: draft, early"))
        #expect(draft.state.rendered == ContentHash(of: Array(try scene.sidecar.utf8)))
        try scene.answer("x")
        let ticked = try scene.sidecar
        draft = try DraftJourney(of: scene.scene.path("dropbox/Idea 1.md"))
        try draft.move { try $0.advance(open: 0) }
        #expect(try scene.sidecar == ticked)
        // The answer counts, and nothing in the old header is anybody's own words.
        try await world.run("review", on: Self.sidecar, step: "tick.0")
        #expect(try scene.text.contains("We met to talk.") && scene.sidecar.contains("Journey: draft, middle"))
        #expect(try scene.scene.everything().keys.allSatisfy { !$0.contains("reviews/Idea 1.review.") }, "no copy")
        #expect(throws: Fault.self) { try DraftJourney(of: scene.scene.path("dropbox/Idea 1.review.md")) }
    }

    // MARK: Changed paragraphs

    @Test("Only changed paragraphs are sent again, and the findings of the others stay")
    func changedParts() async throws {
        let scene = try Self.scene()
        let world = try scene.open()
        try await world.run(Self.entry, on: Scene.file)
        try Self.save(scene, Self.draft.replacing("late", with: "very late"))
        try await world.run(Self.entry, on: Scene.file, step: "later.0")
        let body = try #require(scene.server.requests.last?.body)
        #expect(body.contains(#"BEGIN draft\nIt was very late.\n"#) && scene.server.requests.count == 2)
        #expect(try scene.sidecar.contains("  old city\n") && scene.sidecar.contains("1 finding."))
        #expect(try scene.sidecar.contains("Only what has changed") && scene.sidecar.contains("cycle 2 · 1 received"))
        // Nothing new: nothing is sent.
        try Self.save(scene, "The rain fell on the old town.\n\nIt was very late.\n")
        try await world.run(Self.entry, on: Scene.file, step: "shorter.0")
        #expect(try scene.server.requests.count == 2 && scene.sidecar.contains("  old city\n"))
        // The finding's own paragraph is read again, and now nothing is found there.
        try Self.save(scene, "The rain fell on the very old town.\n\nIt was very late.\n")
        try await world.run(Self.entry, on: Scene.file, step: "own.0")
        #expect(
            scene.server.requests.last?.body.contains(#"BEGIN draft\nThe rain fell on the very old town.\n"#) == true)
        // Other advisors read all of it.
        let others = "review: { passes: [quick, advisors], advisors: [copywriter] }"
        try await world.run(others, on: Scene.file, step: "others.0")
        #expect(scene.server.requests.last?.body.contains(#"very old town.\n\nIt was very late.\n"#) == true)
        #expect(scene.server.requests.count == 4)
    }

    @Test("A paragraph that no advisor has answered about is sent again")
    func unreadAfterFailure() async throws {
        let scene = try Scene(Self.draft) { request in
            request.body.contains("very late") && !request.body.contains("home again")
                ? .complaint(400, "invalid_request_error") : .message(Self.remark)
        }
        let world = try scene.open()
        try await world.run(Self.entry, on: Scene.file)
        let later = Self.draft.replacing("late", with: "very late")
        try Self.save(scene, later)
        try await world.run(Self.entry, on: Scene.file, step: "failing.0")
        #expect(try scene.sidecar.contains("No advisor has read this text") && scene.sidecar.contains("  old city\n"))
        try Self.save(scene, later.replacing("home", with: "home again"))
        try await world.run(Self.entry, on: Scene.file, step: "later.0")
        let body = try #require(scene.server.requests.last?.body)
        #expect(body.contains(#"BEGIN draft\nIt was very late.\n\nWe went home again.\n"#))
        #expect(try scene.sidecar.contains("  old city\n"))
    }
}
