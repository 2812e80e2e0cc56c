import Ledger
import Platform
import RuleActions
import Rules
import TestSupport
import Testing

/// An editor that loaded the note before a block came and saves after it (design section 3, "A stale buffer").
@Suite struct NoteGuard {
    private let scene: ActionScene
    private let world: ActionWorld
    private let reads = ToldReads()

    init() throws {
        scene = try ActionScene()
        try scene.home.write("notes/inbox.md", NoteAppend.start)
        var options = ActionWorld.Options()
        options.reads = reads
        options.patience.editor = 0.05
        world = try scene.open(options)
    }

    private func save(_ text: String) async throws {
        try scene.home.write("notes/inbox.md", text)
        try await world.notes.noteWasSaved(scene.path("notes/inbox.md"))
    }

    @Test func aBlockThatASaveWipedUnreadIsPutBackUnderItsToken() async throws {
        _ = try await world.notes.append(world.request("new"))
        try await save(NoteAppend.start + "typed\n")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start + "typed\n\n^cap-0930\nnew\n")
        #expect(try await world.notes.append(world.request("new")) == "cap-0930")
        #expect(count("new", in: try scene.home.read("notes/inbox.md")) == 1)
    }

    @Test func itIsPutBackAsOftenAsItIsWiped() async throws {
        _ = try await world.notes.append(world.request("new"))
        for number in 0..<3 {
            try await save(NoteAppend.start + "typed \(number)\n")
            #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start + "typed \(number)\n\n^cap-0930\nnew\n")
        }
    }

    @Test func aBlockThatSomebodyHasReadAndRemovedStaysRemoved() async throws {
        _ = try await world.notes.append(world.request("new"))
        reads.tell(read: true)
        try await save(NoteAppend.start + "typed\n")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start + "typed\n")
        #expect(try await world.notes.append(world.request("new")) == "cap-0930")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start + "typed\n")
    }

    @Test func aBlockWrittenBesideAnEditorsLockIsPutBackThoughSomebodyRead() async throws {
        let lock = try scene.home.write("notes/.inbox.md.swp", "b0VIM")
        _ = try await world.notes.append(world.request("new"))
        reads.tell(read: true)
        try Durable.remove(lock)
        try await save(NoteAppend.start + "typed\n")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start + "typed\n\n^cap-0930\nnew\n")
    }

    @Test func aSaveThatKeepsTheBlockEndsTheWatch() async throws {
        _ = try await world.notes.append(world.request("new"))
        try await save(NoteAppend.start + "\n^cap-0930\nnew, and edited\n")
        #expect(try await world.ledger.read { try $0.guardedNotes() }.isEmpty)
        try await save(NoteAppend.start)
        #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start)
    }

    @Test func afterARestartNobodyKnowsWhoReadSoWhatIsRemovedStaysRemoved() async throws {
        _ = try await world.notes.append(world.request("new"))
        var options = ActionWorld.Options()
        options.reads = reads
        let next = try scene.open(options)
        try scene.home.write("notes/inbox.md", NoteAppend.start)
        try await next.notes.noteWasSaved(scene.path("notes/inbox.md"))
        #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start)
    }

    @Test func aBlockThatWasTakenBackIsNotPutBack() async throws {
        _ = try await world.notes.append(world.request("new"))
        try await world.notes.remove(world.request("new"), token: "cap-0930")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start)
        try await save(NoteAppend.start + "typed\n")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppend.start + "typed\n")
    }

    @Test func ofSeveralBlocksOnlyTheWipedOnesComeBack() async throws {
        for number in 0..<3 {
            let token = "cap-093\(number)"
            _ = try await world.notes.append(world.request("text \(number)", step: "job\(number).0", token: token))
        }
        try await save(NoteAppend.start + "\n^cap-0931\ntext 1\n")
        let text = try scene.home.read("notes/inbox.md")
        #expect(NoteText.tokens(Array(text.utf8)) == ["cap-0800", "cap-0930", "cap-0931", "cap-0932"])
        for number in 0..<3 { #expect(count("text \(number)", in: text) == 1) }
    }
}
