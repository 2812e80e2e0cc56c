import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

/// Saves that lack a block (docs/design/stale-buffers.md), through the writer and the ledger.
@Suite("Saves that lack a block") struct NoteGuardTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private var note: BytePath { scene.path("notes/inbox.md") }
    private var text: String { get throws { try scene.home.read("notes/inbox.md") } }

    init() throws {
        scene = try ActionScene()
        try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        var options = ActionWorld.Options()
        options.noteTimeouts.editor = 0.05
        world = try scene.open(options)
    }

    private func save(_ text: String, _ world: ActionWorld? = nil) async throws {
        try scene.home.write("notes/inbox.md", text)
        try await (world ?? self.world).notes.noteWasSaved(note)
    }

    private func append(_ text: String, _ number: Int, _ world: ActionWorld? = nil) async throws {
        let request = self.world.request(text, step: "job\(number).0", token: "cap-093\(number)")
        _ = try await (world ?? self.world).notes.append(request)
    }

    private func fates() async throws -> [String] {
        try await world.ledger.read { try $0.keptBlocks(note).sorted { $0.token < $1.token }.map(\.fate) }
    }

    @Test("A block lost to a save that never had it is restored under its token") func blockSaveWiped() async throws {
        _ = try await world.notes.append(world.request("new"))
        try await save(NoteAppendTests.start + "typed\n")
        #expect(try text == NoteAppendTests.start + "typed\n\n^cap-0930\nnew\n")
        #expect(try await world.notes.append(world.request("new")) == "cap-0930")
        #expect(count("new", in: try text) == 1)
    }

    @Test("The token of a missing block is not reused") func theTokenOfABlockThatIsOutIsGivenToNoOther()
        async throws
    {
        try await append("one", 0)
        try await save(try text + "typed by hand\n")
        try await save(NoteAppendTests.start + "typed by hand\n")
        #expect(try await fates() == ["removed"])
        let other = try await world.notes.append(world.request("another", step: "job9.0", token: "cap-0930"))
        #expect(other != "cap-0930")
        #expect(try await world.notes.restore(step: "job0.0", in: note))
        #expect(NoteText.tokens(Array(try text.utf8)) == ["cap-0800", "cap-0930", other])
    }

    @Test("An old buffer that keeps saving loses nothing")
    func anOldBufferThatGoesOnSavingLosesNothingHoweverOften() async throws {
        try await append("one", 0)
        try await append("two", 1)
        for number in 0..<3 {
            try await save(NoteAppendTests.start + "typed \(number)\n")
            #expect(NoteText.tokens(Array(try text.utf8)) == ["cap-0800", "cap-0930", "cap-0931"])
        }
    }

    @Test("The next append sees a save that was not examined yet") func nextAppendSees() async throws {
        try await append("one", 0)
        try await append("two", 1)
        try scene.home.write("notes/inbox.md", NoteAppendTests.start + "typed\n")
        try await append("three", 2)
        #expect(try text == NoteAppendTests.start + "typed\n\n^cap-0930\none\n\n^cap-0931\ntwo\n\n^cap-0932\nthree\n")
        #expect(try await fates() == ["there", "there", "there"])
    }

    @Test("A reader in between proves nothing") func readerBetweenEvidence() async throws {
        try await append("one", 0)
        _ = try text
        _ = try scene.home.run(["grep", "-r", "one", scene.path("notes").text], environment: [:], input: nil)
        try await save(NoteAppendTests.start + "typed\n")
        #expect(try text.contains("^cap-0930\none\n"))
    }

    @Test("A restart in between forgets nothing") func restartBetweenForgets() async throws {
        try await append("one", 0)
        try scene.home.write("notes/inbox.md", NoteAppendTests.start + "typed\n")
        let next = try scene.open()
        try await append("two", 1, next)
        #expect(try text.contains("^cap-0930\none\n"))
        try await save(NoteAppendTests.start + "typed\ntyped again\n", try scene.open())
        #expect(try text.contains("^cap-0930\none\n\n^cap-0931\ntwo\n"))
    }

    @Test("A line added by a script in between proves nothing") func lineScriptAdded() async throws {
        try await append("one", 0)
        try await save(try text + "a script was here\n")
        try await save(NoteAppendTests.start + "typed by hand\n")
        #expect(try text.contains("^cap-0930\none\n"))
    }

    @Test("A block in one save but not in the next stays out") func blockSaveHeld() async throws {
        try await append("one", 0)
        try await append("two", 1)
        try await save(try text + "typed by hand\n")
        let rest = try text.replacingOccurrences(of: "\n^cap-0930\none\n", with: "")
        for number in 0..<3 {
            try await save(rest + "typed again \(number)\n")
            #expect(try text == rest + "typed again \(number)\n")
        }
        try await append("three", 2)
        #expect(NoteText.tokens(Array(try text.utf8)) == ["cap-0800", "cap-0931", "cap-0932"])
        #expect(try await fates() == ["removed", "there", "there"])
        try await save(rest, try scene.open())
        #expect(try !text.contains("cap-0930"))
    }

    @Test("A block missing from a save with a newer one stays out and is reported") func blockMissingSave()
        async throws
    {
        for number in 0..<3 { try await append("text \(number)", number) }
        try await save(NoteAppendTests.start + "\n^cap-0931\ntext 1\n")
        #expect(NoteText.tokens(Array(try text.utf8)) == ["cap-0800", "cap-0931", "cap-0932"])
        #expect(try await fates() == ["out", "there", "there"])
        let told = try await world.ledger.read { try $0.history(limit: 10).filter { $0.kind == "removed" } }
        #expect(told.count == 1 && told[0].message.contains("steward blocks restore ^cap-0930"))
    }

    @Test("A missing block comes back on request") func comesBackPerson() async throws {
        for number in 0..<2 { try await append("text \(number)", number) }
        try await save(NoteAppendTests.start + "\n^cap-0931\ntext 1\n")
        #expect(try await world.notes.missing().map(\.token) == ["cap-0930"])
        #expect(try await world.notes.restore(step: "job0.0", in: note))
        #expect(try text.contains("^cap-0930\ntext 0\n"))
        #expect(try await world.notes.missing().isEmpty)
        #expect(try await !world.notes.restore(step: "job0.0", in: note))
    }

    @Test("A block restored by hand is present again") func blockComesBack() async throws {
        try await append("one", 0)
        let whole = try text + "typed by hand\n"
        try await save(whole)
        try await save(NoteAppendTests.start + "typed by hand\n")
        #expect(try await fates() == ["removed"])
        try await save(whole)
        #expect(try await fates() == ["there"])
        #expect(try text == whole)
    }

    @Test("An emptied note leaves out blocks that were in a save and regains the others") func emptiedNoteKeeps()
        async throws
    {
        try await append("one", 0)
        try await save(try text + "typed by hand\n")
        try await append("two", 1)
        try await save("")
        #expect(NoteText.tokens(Array(try text.utf8)) == ["cap-0931"])
    }

    @Test("A recreated note gets the blocks that were in no save") func noteMadeAnew() async throws {
        try await append("one", 0)
        try await save(try text + "typed by hand\n")
        try await append("two", 1)
        try Durable.remove(note)
        try await world.notes.noteWasSaved(note)
        #expect(try !scene.exists("notes/inbox.md"))
        try await append("three", 2)
        #expect(NoteText.tokens(Array(try text.utf8)) == ["cap-0931", "cap-0932"])
    }

    @Test("An undone block is not restored") func blockTakenBack() async throws {
        _ = try await world.notes.append(world.request("new"))
        try await world.notes.remove(world.request("new"), token: "cap-0930")
        #expect(try text == NoteAppendTests.start)
        try await save(NoteAppendTests.start + "typed\n")
        #expect(try text == NoteAppendTests.start + "typed\n")
    }

    @Test("A save while waiting for an editor is noticed") func saveMadeEditor() async throws {
        try await append("one", 0)
        var options = ActionWorld.Options()
        options.noteTimeouts.editor = 60
        let waiting = try scene.open(options)
        let lock = try scene.home.write("notes/.inbox.md.swp", "b0VIM")
        let appended = Task { try await append("two", 1, waiting) }
        let held = try text + "typed by hand\n"
        try scene.home.write("notes/inbox.md", held)
        try await waitUntil("the save is seen") {
            try waiting.ledger.readBlocking { try $0.keptBlocks(note).contains { $0.holder != nil } }
        }
        try scene.home.write("notes/inbox.md", NoteAppendTests.start + "typed by hand\n")
        try Durable.remove(lock)
        try await appended.value
        #expect(NoteText.tokens(Array(try text.utf8)) == ["cap-0800", "cap-0931"])
    }

    /// A look has read a save, and has not yet recorded what it means, when the next save arrives and is looked at.
    @Test("A save during the examination of another is judged after it") func saveComesBefore() async throws {
        try await append("one", 0)
        let held = try text + "typed by hand\n"
        try scene.home.write("notes/inbox.md", held)
        let writer = LedgerHold(world.ledger)
        await writer.begin()
        let reading = try ReadWatch(note)
        let first = Task { try await world.notes.noteWasSaved(note) }
        try await waitUntil("the first save has been read") { try reading.hasBeenRead() }
        try scene.home.write("notes/inbox.md", NoteAppendTests.start + "typed by hand\n")
        let second = Task { try await world.notes.noteWasSaved(note) }
        // Nobody reads it before the first is done; a second reader would need time to do so.
        _ = try reading.hasBeenRead()
        for _ in 0..<20 where try !reading.hasBeenRead() { try await Task.sleep(for: .milliseconds(20)) }
        writer.end()
        try await first.value
        try await second.value
        #expect(try await fates() == ["removed"])
        #expect(try text == NoteAppendTests.start + "typed by hand\n")
    }

    /// Between the end of the lease and the commit of the write, somebody may read, change and save the note.
    @Test("A save before the write is recorded as done includes its block") func saveComesBeforeWrite()
        async throws
    {
        let home = scene.home
        let block = "\n^cap-0930\ntext\n"
        // Called in the transaction that ends the write, which begins after the lease is released.
        let saving = LedgerHooks(
            begin: { _ in },
            end: { _, _ in
                let text = try home.read("notes/inbox.md")
                try home.write("notes/inbox.md", text + "typed by hand\n")
            })
        // If another test's child still had the note open, it would be exchanged, with no time for a save in between.
        try await letGo(note)
        _ = try await world.notes.append(world.request("text", step: "job0.0", token: "cap-0930"), saving)
        let held = try text
        try #require(held.contains(block) && held.hasSuffix("typed by hand\n"))
        try await world.notes.noteWasSaved(note)
        #expect(try await fates() == ["there"])
        try await save(held.replacingOccurrences(of: block, with: "") + "typed again\n")
        #expect(try !text.contains(block))
        #expect(try await fates() == ["removed"])
    }

    @Test("Saves examined together are judged one after the other") func savesLookedTogether() async throws {
        try await append("one", 0)
        try scene.home.write("notes/inbox.md", NoteAppendTests.start + "typed\n")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await world.notes.noteWasSaved(note) } }
            for number in 1..<4 { group.addTask { try await append("text \(number)", number) } }
            try await group.waitForAll()
        }
        for number in 0..<4 { #expect(count("^cap-093\(number)\n", in: try text) == 1) }
    }
}
