import Platform
import Synchronization
import TestSupport
import Testing

@testable import NoteWriting

/// The order in which notes get their turns, alone.
@Suite("The order in which notes get their turns") struct NoteTurnsTests {
    private typealias Turns = NoteTurns<Int, String>

    /// What was worked on together, and a door that the first of it waits at.
    private final class Record: Sendable {
        let batches = Mutex<[[Int]]>([])
        let isOpen = Mutex(false)

        var all: [[Int]] { batches.withLock { $0 } }

        func open() { isOpen.withLock { $0 = true } }

        func work(_ turns: [Turns.Turn]) async throws {
            batches.withLock { $0.append(turns.map(\.wish)) }
            try await waitUntil("the door is open") { isOpen.withLock { $0 } }
            for turn in turns { turn.answer("answer \(turn.wish)") }
        }
    }

    @Test("What is asked for meanwhile waits and is done together") func askedMeanwhileWaits() async throws {
        let (turns, record) = (Turns(), Record())
        let first = Task { try await turns.enqueue(1, on: "/n.md") { try await record.work($1) } }
        try await waitUntil("the first has its turn") { record.all == [[1]] }
        var others: [Task<String, any Error>] = []
        for number in 2...4 {
            others.append(Task { try await turns.enqueue(number, on: "/n.md") { try await record.work($1) } })
            try await waitUntil("\(number) waits") { await turns.waits(on: "/n.md") == number - 1 }
        }
        #expect(record.all == [[1]])
        record.open()
        #expect(try await first.value == "answer 1")
        for (index, other) in others.enumerated() { #expect(try await other.value == "answer \(index + 2)") }
        #expect(record.all == [[1], [2, 3, 4]])
    }

    @Test("Another note goes on") func anotherNoteGoes() async throws {
        let (turns, held, free) = (Turns(), Record(), Record())
        free.open()
        let first = Task { try await turns.enqueue(1, on: "/held.md") { try await held.work($1) } }
        try await waitUntil("the first has its turn") { held.all == [[1]] }
        #expect(try await turns.enqueue(2, on: "/free.md") { try await free.work($1) } == "answer 2")
        held.open()
        #expect(try await first.value == "answer 1")
    }

    @Test("What fails fails for those that have no answer yet and the next go on") func failsFailsAnswer() async throws
    {
        let turns = Turns()
        let fault = await #expect(throws: Fault.self) {
            try await turns.enqueue(1, on: "/n.md") { _, _ in throw Fault(.transient, "not now") }
        }
        #expect(fault?.message == "not now")
        let answered = try await turns.enqueue(2, on: "/n.md") { _, turns in
            turns.forEach { $0.answer("early") }
            throw Fault(.transient, "too late")
        }
        #expect(answered == "early")
    }

    @Test("Nobody waits for ever") func nobodyWaitsEver() async throws {
        let fault = await #expect(throws: Fault.self) { try await Turns().enqueue(1, on: "/n.md") { _, _ in } }
        #expect(fault?.message == "what was asked of /n.md was left without an answer")
    }
}
