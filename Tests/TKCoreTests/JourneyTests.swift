import Foundation
import Platform
import TKCore
import TestSupport
import Testing

@Suite("The journey of a text")
struct JourneyTests {
    private typealias Step = @Sendable (inout JourneyState) throws -> Void

    private static let steps: [(name: String, step: Step)] = [
        ("start", { try $0.start("brd_prd") }), ("advance", { try $0.advance(open: 0) }),
        ("back", { try $0.back() }), ("finish", { try $0.finish(open: 0) }),
    ]

    /// A text after so many steps on from the canvas.
    private static func state(_ steps: Int) throws -> JourneyState {
        var state = JourneyState()
        for _ in 0..<steps { try state.advance(open: 0) }
        return state
    }

    /// Every place, in order, and the places that the steps lead to from there; nil where a step is refused.
    private static let ways: [(place: String, to: [String: String])] = [
        ("canvas", ["start": "draft, early", "advance": "draft, early"]),
        ("draft, early", ["advance": "draft, middle", "back": "canvas"]),
        ("draft, middle", ["advance": "draft, late", "back": "draft, early"]),
        ("draft, late", ["advance": "revise", "back": "draft, middle"]),
        ("revise", ["advance": "final", "finish": "final", "back": "draft, late"]),
        ("final", ["back": "revise"]),
    ]

    @Test("Each step leads one place on or back, or is refused with what to do and changes nothing", arguments: 0..<6)
    func ways(_ place: Int) throws {
        let before = try Self.state(place)
        #expect(before.place == Self.ways[place].place && (before.stage == .canvas) == (before.draftStage == nil))
        for (name, step) in Self.steps {
            var after = before
            if let target = Self.ways[place].to[name] {
                try step(&after)
                #expect(after.place == target, "\(name)")
            } else {
                let refusal = #expect(throws: JourneyRefusal.self, "\(name)") { try step(&after) }
                #expect(refusal?.description.contains(";") == true, "it says what to do")
                #expect(after == before)
            }
        }
    }

    @Test("A text is final only when all is answered; back on the canvas the kind of text is open again")
    func lastStep() throws {
        var state = try Self.state(4)
        #expect(throws: JourneyRefusal.self) { try state.finish(open: 1) }
        #expect(throws: JourneyRefusal.self) { try state.advance(open: 2) }
        try state.finish(open: 0)
        #expect(state.stage == .final && state.draftStage == .late)
        for _ in 0..<5 { try state.back() }
        state.follow(ruleType: "email_memo")
        #expect(state.storyType == "email_memo" && !state.isTypeChosen)
        try state.start("brd_prd")
        state.follow(ruleType: "email_memo")
        #expect(state.storyType == "brd_prd")
    }

    @Test(
        "A cycle begins when advisors have read; without a model, with the first findings after answers",
        arguments: [
            ([(3, 0, true), (0, 2, false), (1, 2, true)], 2, 4), ([(3, 0, nil), (1, 0, nil)], 1, 4),
            ([(2, 0, nil), (1, 1, nil), (1, 1, nil)], 2, 4), ([(0, 0, nil)], 0, 0), ([(0, 0, true)], 1, 0),
        ] as [([(new: Int, answered: Int, isReading: Bool?)], Int, Int)])
    func cycles(_ rounds: [(new: Int, answered: Int, isReading: Bool?)], _ cycle: Int, _ received: Int) throws {
        var state = JourneyState()
        for round in rounds {
            state.receive(new: round.new, inAll: 0, answered: round.answered, isReading: round.isReading)
        }
        #expect(state.cycle == cycle && state.received == received)
        let copy = try JSONDecoder().decode(JourneyState.self, from: JSONEncoder().encode(state))
        #expect(copy == state)
    }
}

@Suite("Conversations on disk")
struct ConversationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open() async throws -> JourneyStore {
        try await JourneyStore.open(folder.path.appending("journeys.sqlite")).store
    }

    @Test("Questions and answers keep their order")
    func conversations() async throws {
        let store = try await open()
        let talk = try await store.begin(role: "academic")
        for number in 1...3 { _ = try await store.append(question: "q\(number)", answer: "a\(number)", to: talk.id) }
        _ = try await store.begin(role: "editor")
        let found = try #require(try await store.conversation(talk.id))
        #expect(found.messages.map(\.question) == ["q1", "q2", "q3"])
        #expect(try await store.conversations(role: "academic") == [found])
        #expect(try await store.conversations().count == 2)
        await #expect(throws: Fault.self) { try await store.append(question: "q", answer: "a", to: UUID()) }
    }
}
