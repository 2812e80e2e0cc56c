import Foundation
import Platform
import TKCore
import TestSupport
import Testing

@Suite("The journey of a text")
struct JourneyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func finding(_ id: String, hasReplacement: Bool = true) -> Suggestion {
        Suggestion(
            id: id, advisorID: "editor", type: .improve, category: "clarity", priority: 2, confidence: 0.8,
            originalText: "old", suggestedText: "new", hasReplacement: hasReplacement, reasoning: "why",
            anchor: TextAnchor(exact: "old", prefix: "", suffix: "", start: 0, end: 3, line: 1, textHash: ""))
    }

    private func state(_ events: JourneyEvent...) throws -> JourneyState {
        var state = JourneyState()
        for event in events { try state.apply(event) }
        return state
    }

    private static let start = JourneyEvent.start(storyType: "brd_prd", advisors: ["editor"])

    @Test("From the canvas to the final text and back for more")
    func wholeWay() throws {
        var state = try state(Self.start)
        #expect(state.stage == .draft && state.draftStage == .early && state.storyType == "brd_prd")
        try state.apply(.setDraftStage(.middle))
        try state.apply(.receive(["a", "b", "c", "d"].map { finding($0) }))
        #expect(state.stage == .revise && state.pending.count == 4 && state.revisionCycle == 1)
        try state.apply(.accept("a"))
        try state.apply(.edit("b", text: "mine"))
        try state.apply(.skip("c"))
        #expect(!state.isFullyAnswered)
        #expect(throws: JourneyRefusal.self) { try state.apply(.finish) }
        try state.apply(.skip("d"))
        #expect(state.isFullyAnswered)
        try state.apply(.finish)
        #expect(state.stage == .final && state.draftStage == .middle)
        #expect(state.comments.map(\.appliedText) == ["new", "mine", nil, nil])
        #expect(
            state.totalReceived == 4 && state.totalAccepted == 2 && state.totalEdited == 1 && state.totalSkipped == 2)
        try state.apply(.receive([finding("e")]))
        #expect(state.stage == .revise && state.revisionCycle == 2 && state.totalReceived == 5)
        try state.apply(.resumeDraft)
        try state.apply(.reconsider)
        #expect(state.stage == .canvas && state.draftStage == nil)
    }

    /// Which kinds of events each stage allows; all others are refused.
    private static let allowed: [JourneyStage: Set<String>] = [
        .canvas: ["start", "setAdvisors"],
        .draft: ["reconsider", "setDraftStage", "setAdvisors", "receive"],
        .revise: [
            "setDraftStage", "setAdvisors", "receive", "accept", "edit", "skip", "reopen", "resumeDraft", "finish",
        ],
        .final: ["receive", "resumeDraft"],
    ]

    @Test("An action not allowed in a stage is rejected and changes nothing", arguments: JourneyStage.allCases)
    func forbidden(_ stage: JourneyStage) throws {
        let events: [(String, JourneyEvent)] = [
            ("start", Self.start), ("reconsider", .reconsider), ("setDraftStage", .setDraftStage(.late)),
            ("setAdvisors", .setAdvisors(["general"])), ("receive", .receive([])), ("accept", .accept("a")),
            ("edit", .edit("a", text: "x")), ("skip", .skip("a")), ("reopen", .reopen("b")),
            ("resumeDraft", .resumeDraft), ("finish", .finish),
        ]
        for (name, event) in events {
            let before: JourneyState
            switch stage {
            case .canvas: before = JourneyState()
            case .draft: before = try state(Self.start)
            case .revise:
                let found = name == "finish" ? ["b"] : ["a", "b"]
                before = try state(Self.start, .receive(found.map { finding($0) }), .skip("b"))
            case .final: before = try state(Self.start, .receive([finding("b")]), .skip("b"), .finish)
            }
            #expect(before.stage == stage)
            if Self.allowed[stage]?.contains(name) == true {
                #expect(throws: Never.self, "\(name)") { try before.applying(event) }
            } else {
                var after = before
                let refusal = #expect(throws: JourneyRefusal.self, "\(name)") { try after.apply(event) }
                #expect(refusal?.description.contains(";") == true, "it says what to do: \(refusal?.description ?? "")")
                #expect(after == before)
            }
        }
    }

    @Test("A comment is answered once; reopening reverts the answer and its count")
    func answers() throws {
        var state = try state(Self.start, .receive([finding("a"), finding("b", hasReplacement: false)]))
        #expect(throws: JourneyRefusal.self) { try state.apply(.accept("nobody")) }
        #expect(throws: JourneyRefusal.self) { try state.apply(.accept("b")) }
        try state.apply(.edit("b", text: "in my words"))
        try state.apply(.accept("a"))
        #expect(throws: JourneyRefusal.self) { try state.apply(.skip("a")) }
        try state.apply(.reopen("a"))
        #expect(throws: JourneyRefusal.self) { try state.apply(.reopen("a")) }
        try state.apply(.reopen("b"))
        #expect(state.totalAccepted == 0 && state.totalEdited == 0 && state.totalSkipped == 0)
        #expect(state.comments.allSatisfy { $0.status == .pending && $0.editedText == nil })
    }

    @Test("An answered finding never comes back; a pending one that is not found again is removed")
    func rounds() throws {
        var state = try state(Self.start, .receive(["a", "b", "c"].map { finding($0) }), .skip("a"))
        try state.apply(.receive(["a", "b", "d", "d"].map { finding($0) }))
        #expect(state.comments.map(\.id) == ["a", "b", "d"])
        #expect(state.comments.map(\.status) == [.skipped, .pending, .pending])
        #expect(state.totalReceived == 4 && state.revisionCycle == 2)
    }

    @Test("Advisors are listed once, and at most ten of them")
    func advisors() throws {
        var state = JourneyState()
        #expect(throws: JourneyRefusal.self) { try state.apply(.setAdvisors(["a", "a"])) }
        #expect(throws: JourneyRefusal.self) { try state.apply(.setAdvisors((0...10).map { "\($0)" })) }
        try state.apply(.start(storyType: nil, advisors: []))
        #expect(state.stage == .draft && state.storyType == nil)
    }

    @Test("The counters always match the comments and the text is final only when all are answered")
    func random() throws {
        var generator = SeededGenerator(for: "journeys")
        for _ in 0..<200 {
            var state = JourneyState()
            for _ in 0..<40 {
                let id = "\(Int.random(in: 0..<6, using: &generator))"
                let batch = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    finding("\(Int.random(in: 0..<6, using: &generator))")
                }
                let events: [JourneyEvent] = [
                    Self.start, .reconsider, .setDraftStage(.late), .receive(batch), .accept(id), .edit(id, text: "x"),
                    .skip(id), .reopen(id), .resumeDraft, .finish,
                ]
                let event = events[Int.random(in: 0..<events.count, using: &generator)]
                let before = state
                do { try state.apply(event) } catch { #expect(state == before) }
                let counts = Dictionary(grouping: state.comments, by: \.status).mapValues(\.count)
                #expect(state.totalEdited == counts[.edited, default: 0])
                #expect(state.totalAccepted == counts[.accepted, default: 0] + counts[.edited, default: 0])
                #expect(state.totalSkipped == counts[.skipped, default: 0])
                #expect(state.totalReceived >= state.comments.count)
                #expect(Set(state.comments.map(\.id)).count == state.comments.count)
                #expect((state.stage == .canvas) == (state.draftStage == nil))
                if state.stage == .final { #expect(state.pending.isEmpty) }
            }
            let copy = try JSONDecoder().decode(JourneyState.self, from: JSONEncoder().encode(state))
            #expect(copy == state)
        }
    }

    // MARK: - On disk

    private func open() async throws -> JourneyStore {
        try await JourneyStore.open(folder.path.appending("journeys.sqlite")).store
    }

    @Test("A document's journey survives a restart; a path that is not UTF-8 is kept byte for byte")
    func persistence() async throws {
        let path = BytePath(bytes: Array("/drafts/caf".utf8) + [0xE9] + Array(".md".utf8))
        let first = try await open()
        let project = try await first.project(folder: "/drafts", name: "drafts")
        let document = try await first.document(path: path, title: "Café", text: "one two three", project: project.id)
        #expect(document.words == 3 && document.journey == JourneyState())
        let state = try await first.apply([Self.start, .receive([finding("a")]), .accept("a")], to: document.id)
        try await first.close()
        let second = try await open()
        let found = try #require(try await second.document(at: path))
        #expect(found.id == document.id && found.journey == state && found.path == path && found.project == project.id)
        #expect(try await second.documents(in: project.id) == [found])
        #expect(try await second.projects().map(\.name) == ["drafts"])
        #expect(try await second.project(folder: "/drafts", name: "renamed").id == project.id)
    }

    @Test("Events are recorded all or none")
    func allOrNone() async throws {
        let store = try await open()
        let document = try await store.document(path: "/a.md", title: "a", text: "x")
        await #expect(throws: JourneyRefusal.self) {
            try await store.apply([Self.start, .finish], to: document.id)
        }
        #expect(try await store.document(document.id)?.journey == JourneyState())
        await #expect(throws: Fault.self) { try await store.apply([], to: UUID()) }
    }

    @Test("Two processes change one journey without losing an answer")
    func together() async throws {
        let stores = [try await open(), try await open()]
        let document = try await stores[0].document(path: "/a.md", title: "a", text: "x")
        let ids = (0..<20).map { "f\($0)" }
        _ = try await stores[0].apply([Self.start, .receive(ids.map { finding($0) })], to: document.id)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, id) in ids.enumerated() {
                group.addTask { _ = try await stores[index % 2].apply([.skip(id)], to: document.id) }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].document(document.id)?.journey.totalSkipped == 20)
    }

    @Test("A renamed draft remains the same document, and does not displace another")
    func move() async throws {
        let store = try await open()
        let one = try await store.document(path: "/a.md", title: "a", text: "x")
        _ = try await store.document(path: "/b.md", title: "b", text: "y")
        await #expect(throws: Fault.self) { try await store.move(one.id, to: "/b.md") }
        try await store.move(one.id, to: "/c.md")
        #expect(try await store.document(at: "/c.md")?.id == one.id)
        let changed = try await store.document(path: "/c.md", title: "a", text: "x y")
        #expect(changed.words == 2 && changed.textHash != one.textHash && changed.created == one.created)
    }

    @Test("Questions and answers keep their order, with their document")
    func conversations() async throws {
        let store = try await open()
        let document = try await store.document(path: "/a.md", title: "a", text: "x")
        let talk = try await store.begin(role: "academic", document: document.id)
        for number in 1...3 { _ = try await store.append(question: "q\(number)", answer: "a\(number)", to: talk.id) }
        _ = try await store.begin(role: "editor")
        let found = try #require(try await store.conversation(talk.id))
        #expect(found.messages.map(\.question) == ["q1", "q2", "q3"])
        #expect(try await store.conversations(role: "academic", document: document.id) == [found])
        #expect(try await store.conversations().count == 2)
        await #expect(throws: Fault.self) { try await store.append(question: "q", answer: "a", to: UUID()) }
    }
}
