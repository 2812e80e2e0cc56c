import Platform
import Synchronization
import TestSupport
import Testing

@testable import NoteActions

/// The order in which notes get their turns, in isolation.
@Suite("Turns of notes") struct NoteTurnsTests {
    private typealias Queue = NoteTurns<Int, String, Memory>

    /// The turns that have had it.
    private final class Memory: Sendable {
        let seen = Mutex<[Int]>([])
    }

    /// What was processed together, with a gate at which the first one waits.
    private final class Record: Sendable {
        let batches = Mutex<[[Int]]>([])
        let isOpen = Mutex(false)

        var all: [[Int]] { batches.withLock { $0 } }

        func open() { isOpen.withLock { $0 = true } }

        func work(_ turns: [Queue.Turn]) async throws {
            batches.withLock { $0.append(turns.map(\.wish)) }
            try await waitUntil("the door is open") { isOpen.withLock { $0 } }
            for turn in turns { turn.answer("answer \(turn.wish)") }
        }
    }

    @Test("Requests in the meantime wait and are processed together") func askedMeanwhileWaits() async throws {
        let (turns, record) = (Queue { Memory() }, Record())
        let first = Task { try await turns.enqueue(1, on: "/n.md") { _, asked, _ in try await record.work(asked) } }
        try await waitUntil("the first has its turn") { record.all == [[1]] }
        var others: [Task<String, any Error>] = []
        for number in 2...4 {
            others.append(
                Task { try await turns.enqueue(number, on: "/n.md") { _, asked, _ in try await record.work(asked) } })
            try await waitUntil("\(number) waits") { turns.waits(on: "/n.md") == number - 1 }
        }
        #expect(record.all == [[1]])
        record.open()
        #expect(try await first.value == "answer 1")
        for (index, other) in others.enumerated() { #expect(try await other.value == "answer \(index + 2)") }
        #expect(record.all == [[1], [2, 3, 4]])
    }

    @Test("Another note continues") func anotherNoteGoes() async throws {
        let (turns, held, free) = (Queue { Memory() }, Record(), Record())
        free.open()
        let first = Task { try await turns.enqueue(1, on: "/held.md") { _, asked, _ in try await held.work(asked) } }
        try await waitUntil("the first has its turn") { held.all == [[1]] }
        #expect(try await turns.enqueue(2, on: "/free.md") { _, asked, _ in try await free.work(asked) } == "answer 2")
        held.open()
        #expect(try await first.value == "answer 1")
    }

    @Test("A failure affects those waiting for it, and the next requests continue") func failsFailsAnswer() async throws
    {
        let turns = Queue { Memory() }
        let fault = await #expect(throws: Fault.self) {
            try await turns.enqueue(1, on: "/n.md") { _, _, _ in throw Fault(.transient, "not now") }
        }
        #expect(fault?.message == "not now")
        let answered = try await turns.enqueue(2, on: "/n.md") { _, turns, _ in
            turns.forEach { $0.answer("early") }
            throw Fault(.transient, "too late")
        }
        #expect(answered == "early")
    }

    @Test("Nobody waits forever") func nobodyWaitsEver() async throws {
        let fault = await #expect(throws: Fault.self) {
            try await Queue { Memory() }.enqueue(1, on: "/n.md") { _, _, _ in }
        }
        #expect(fault?.message == "a request for /n.md was not answered")
    }

    @Test("State left by one turn is for those already waiting, and for nobody later")
    func memory() async throws {
        let (turns, record) = (Queue { Memory() }, Record())
        let found = Mutex<[[Int]]>([])
        let ask: @Sendable (Int) async throws -> String = { number in
            try await turns.enqueue(number, on: "/n.md") { _, asked, memory in
                let before = memory.seen.withLock { seen in
                    defer { seen += asked.map(\.wish) }
                    return seen
                }
                found.withLock { $0.append(before) }
                try await record.work(asked)
            }
        }
        let first = Task { try await ask(1) }
        try await waitUntil("the first has its turn") { record.all == [[1]] }
        let second = Task { try await ask(2) }
        try await waitUntil("the second waits") { turns.waits(on: "/n.md") == 1 }
        record.open()
        #expect(try await [first.value, second.value] == ["answer 1", "answer 2"])
        // The turns end after the last answer; a request before that still belongs to them.
        try await waitUntil("the turns have ended") { turns.isAtRest }
        #expect(try await ask(3) == "answer 3")
        #expect(found.withLock { $0 } == [[], [1], []])
    }

    @Test("State to be kept is for the note's next turn, until another note has had one")
    func keptMemory() async throws {
        let turns = Queue(memory: Memory.init) { $0.seen.withLock { !$0.contains(0) } }
        let ask: @Sendable (Int, BytePath) async throws -> [Int] = { number, note in
            let found = Mutex<[Int]>([])
            _ = try await turns.enqueue(number, on: note) { _, asked, memory in
                found.withLock { $0 = memory.seen.withLock { $0 } }
                memory.seen.withLock { $0.append(number) }
                for turn in asked { turn.answer("done") }
            }
            try await waitUntil("the turns have ended") { turns.isAtRest }
            return found.withLock { $0 }
        }
        #expect(try await ask(1, "/n.md") == [])
        #expect(try await ask(2, "/n.md") == [1])
        #expect(try await ask(3, "/other.md") == [])
        #expect(try await ask(4, "/n.md") == [])
        // One that may not.
        #expect(try await ask(0, "/n.md") == [4])
        #expect(try await ask(5, "/n.md") == [])
    }
}
