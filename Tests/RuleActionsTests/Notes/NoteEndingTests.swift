import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

/// A note was written, but then the ledger could not be, because its disk was full. The next write must find the block.
@Suite("Writes without an end in the ledger") struct NoteEndingTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private let note: BytePath
    private let inPlace: InPlaceFile

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        inPlace = InPlaceFile(journal: world.journal, device: "desk")
        note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
    }

    private var text: String { get throws { try scene.home.read("notes/inbox.md") } }
    private var isOpen: Bool { get throws { try world.ledger.readBlocking { try !$0.openNoteWrites(note).isEmpty } } }

    /// A write whose end the ledger refuses.
    private func unended(_ write: (@escaping (LedgerTransaction, [NoteBlockRecord]) throws -> Void) throws -> Void)
        throws
    {
        let fault = #expect(throws: Fault.self) {
            try write { _, _ in throw Fault(.transient, "the ledger's disk is full") }
        }
        #expect(fault?.message == "the ledger's disk is full")
        #expect(try isOpen)
    }

    private func append(_ request: NoteRequest) throws {
        try unended { _ = try inPlace.append([request], to: note, world.journal.files(), finish: $0) }
    }

    @Test("The block is not written again") func blockWrittenAgain() async throws {
        let request = world.request("new")
        try append(request)
        #expect(try await world.notes.append(request) == "cap-0930")
        #expect(try text == NoteAppendTests.start + "\n^cap-0930\nnew\n")
        #expect(try !isOpen)
    }

    @Test("Its step counts as done") func stepFoundDone() async throws {
        try scene.home.write("dropbox/a.md", "new")
        let action = try world.action("append-block: { note: inbox, text: \"{{ file.text }}\" }")
        let intent = try await action.decided(world.input("a.md", adding: ["file.text": .text("new")]))
        try append(try LedgerJSON.decode(NoteRequest.self, from: intent))
        guard case .done(let receipt) = try await action.recovered(intent, step: "job.0") else {
            throw TestFailure("not found")
        }
        #expect(receipt.values["block.anchor"] == .text("cap-0930"))
        #expect(count("new", in: try text) == 1)
        #expect(try !isOpen)
    }

    @Test("A step whose block is missing counts as not done") func stepBlockFound() async throws {
        let request = world.request("new")
        try append(request)
        try Data(NoteAppendTests.start.utf8).write(to: URL(fileURLWithPath: note.text))
        #expect(try await world.notes.written(step: request.step) == nil)
        #expect(try !isOpen)
        #expect(try await world.notes.append(request) == "cap-0930")
        #expect(try text == NoteAppendTests.start + "\n^cap-0930\nnew\n")
    }

    @Test("Other blocks are written after it") func othersWrittenAfter() async throws {
        let first = world.request("first")
        try append(first)
        let second = world.request("second", step: "job.1")
        async let one = world.notes.append(first)
        async let two = world.notes.append(second)
        #expect(try await [one, two] == ["cap-0930", "cap-0930__desk"])
        #expect(try text == NoteAppendTests.start + "\n^cap-0930\nfirst\n\n^cap-0930__desk\nsecond\n")
    }

    @Test("A line typed since is kept and the block is not written again") func lineTypedSince() async throws {
        let request = world.request("new")
        try append(request)
        let written = try text
        try Data((written + "mine\n").utf8).write(to: URL(fileURLWithPath: note.text))
        #expect(try await world.notes.append(request) == "cap-0930")
        #expect(try text == written + "mine\n")
        #expect(try await world.ledger.read { try $0.blocks("notes", "inbox.md") } == ["cap-0930"])
    }

    @Test("A created note is not created again") func noteMadeMade() async throws {
        try Durable.remove(note)
        let request = world.request("new")
        try unended { _ = try inPlace.create([request], at: note, world.journal.files(), finish: $0) }
        let made = try text
        #expect(try await world.notes.append(request) == "cap-0930")
        #expect(try text == made && count("new", in: made) == 1)
        let known = try await world.ledger.read { try $0.file("notes", "inbox.md") }
        #expect(known?.fingerprint == (try FileStatus.of(note)?.fingerprint), "the agent's own note is news")
    }

    @Test("An exchanged note is not exchanged again") func noteExchangedExchanged() async throws {
        let request = world.request("new")
        try unended {
            _ = try ExchangeChild.exchange(world).append(
                [request], to: note, world.journal.files(), quietFor: 0, finish: $0)
        }
        #expect(try await world.notes.append(request) == "cap-0930")
        #expect(try text == NoteAppendTests.start + "\n^cap-0930\nnew\n")
    }

    @Test("While the place is away, it remains open") func placeAwayStays() async throws {
        let request = world.request("new")
        try append(request)
        #expect(rename(scene.path("notes").text, scene.path("away").text) == 0)
        let next = try scene.open()
        try await next.notes.recover()
        #expect(try isOpen)
        let fault = await #expect(throws: Fault.self) { try await next.notes.written(step: request.step) }
        #expect(fault?.kind == .transient)
        #expect(rename(scene.path("away").text, scene.path("notes").text) == 0)
        #expect(try await next.notes.written(step: request.step) == "cap-0930")
        #expect(count("new", in: try text) == 1)
    }

    @Test("The block can be removed anyway") func blockTakenAll() async throws {
        let request = world.request("new")
        try append(request)
        try await world.notes.remove(request, token: "cap-0930")
        #expect(count("new", in: try text) == 0)
        #expect(try !isOpen)
    }

    @Test("A partial write in a note that is held open delays the next one") func halfWriteNote() async throws {
        let request = world.request("new")
        try append(request)
        let whole = try text
        var file: Descriptor? = try Descriptor(note, O_RDWR)
        try file?.truncate(to: Int64(whole.utf8.count - 3))
        let fault = await #expect(throws: Fault.self) { try await world.notes.append(request) }
        #expect(fault?.kind == .transient && fault?.message.contains("an incomplete write") == true)
        #expect(try isOpen && text == String(whole.dropLast(3)))
        file = nil
        #expect(try await world.notes.append(request) == "cap-0930")
        #expect(try text == whole)
    }
}
