import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

/// Without a lease, a changed copy replaces the note (docs/design/notes.md).
@Suite("Exchanging notes") struct NoteExchangeTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private let note: BytePath
    private let exchange: ExchangedNote

    init() throws {
        scene = try ActionScene()
        var options = ActionWorld.Options()
        options.links = .inside
        world = try scene.open(options)
        note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        exchange = ExchangeChild.exchange(world)
    }

    private func append() throws -> ExchangedNote.Written {
        try exchange.append([world.request("new")], to: note, world.journal.files(), quietFor: 0) { _, _ in }
    }

    @Test("The block is in the note and the displaced version is removed") func blockNoteDisplaced() throws {
        let written = try append()
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start + "\n^cap-0930\nnew\n")
        try exchange.retire(written.displaced)
        #expect(try listDirectory(scene.path("notes")).map(\.name) == [Array("inbox.md".utf8)])
    }

    @Test("Text written to the displaced version is kept beside the note") func writtenDisplacedVersion() throws {
        let editor = try Descriptor(note, O_RDWR)
        let written = try append()
        try editor.write(Array("typed too late\n".utf8), at: Int64(NoteAppendTests.start.utf8.count))
        try exchange.retire(written.displaced)
        let names = try listDirectory(scene.path("notes")).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
        #expect(names.count == 2)
        let conflict = try #require(names.first { $0.hasPrefix("inbox (conflict desk ") && $0.hasSuffix(".md") })
        #expect(try scene.home.read(BytePath("notes/\(conflict)")) == NoteAppendTests.start + "typed too late\n")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start + "\n^cap-0930\nnew\n")
    }

    @Test("The next start keeps text written to the displaced version") func nextStartKeeps() async throws {
        let editor = try Descriptor(note, O_RDWR)
        _ = try append()
        try editor.write(Array("typed too late\n".utf8), at: Int64(NoteAppendTests.start.utf8.count))
        // The receipt of the step was committed; the agent ended before the minute was over.
        try await world.ledger.write { try $0.clearStaged(job: "job.0") }
        try await scene.open().notes.recover()
        let names = try listDirectory(scene.path("notes")).map { String(decoding: $0.name, as: UTF8.self) }
        #expect(!names.contains { $0.hasPrefix(".steward-") })
        let conflict = try #require(names.first { $0.contains("(conflict") })
        #expect(try scene.home.read(BytePath("notes/\(conflict)")) == NoteAppendTests.start + "typed too late\n")
    }

    @Test("A save between reading and exchange stays in place")
    func whatIsSavedBetweenTheReadingAndTheExchangeStaysWhereItIs() async throws {
        let hold = LedgerHold(world.ledger)
        await hold.begin()
        let pool = BlockingPool("exchange")
        let (exchange, world, note) = (exchange, world, note)
        let appended = Task {
            try await pool.run {
                try exchange.append([world.request("new")], to: note, world.journal.files(), quietFor: 0)
            }
        }
        // The next version cannot be recorded while the ledger is locked.
        let backups = scene.path("state/backups")
        try await waitUntil("the note has been read and its copy kept") {
            try FileStatus.of(backups) != nil && !listDirectory(backups).isEmpty
        }
        let saved = NoteAppendTests.start + "typed in the last moment\n"
        try scene.home.write("notes/inbox.md", saved)
        hold.end()
        let fault = await #expect(throws: Fault.self) { try await appended.value }
        #expect(fault?.kind == .transient)
        #expect(try scene.home.read("notes/inbox.md") == saved)
        #expect(try listDirectory(scene.path("notes")).map(\.name) == [Array("inbox.md".utf8)])
        #expect(try world.ledger.readBlocking { try $0.openNoteWrites() }.isEmpty)
    }

    @Test("A copy of every replaced version is kept") func aCopyOfEveryReplacedVersionIsKept() throws {
        _ = try append()
        _ = try exchange.append(
            [world.request("more", step: "job.1", token: "cap-0931")], to: note, world.journal.files(), quietFor: 0
        ) {
            _, _ in
        }
        let kept = try listDirectory(scene.path("state/backups")).count
        #expect(kept == 2)
    }

    @Test("Mode, owner and attributes are kept") func modeOwnerAttributes() throws {
        chmod(note.text, 0o640)
        try ExtendedAttributes.set("user.xdg.tags", Array("mine".utf8), on: Descriptor(note))
        _ = try append()
        let file = try Descriptor(note)
        #expect(try file.status().mode == 0o640)
        #expect(try ExtendedAttributes.value("user.xdg.tags", of: file) == Array("mine".utf8))
    }

    @Test("If the note is a link, its target is exchanged") func noteLinkFile() throws {
        try scene.home.write("notes/real/there.md", NoteAppendTests.start)
        symlink("real/there.md", scene.path("notes/link.md").text)
        let request = world.request("new", note: "link.md")
        let written = try exchange.append([request], to: request.note, world.journal.files(), quietFor: 0) { _, _ in }
        #expect(try scene.home.read("notes/real/there.md") == NoteAppendTests.start + "\n^cap-0930\nnew\n")
        #expect(try FileStatus.of(request.note)?.kind == .link)
        try exchange.retire(written.displaced)
        #expect(try listDirectory(scene.path("notes/real")).count == 1)
    }

    @Test("A link that leads out of the vault is rejected") func linkLeadsVault() throws {
        try scene.home.write("outside.md", NoteAppendTests.start)
        symlink("../outside.md", scene.path("notes/link.md").text)
        let request = world.request("new", note: "link.md")
        let fault = #expect(throws: Fault.self) {
            try exchange.append([request], to: request.note, world.journal.files(), quietFor: 0) { _, _ in }
        }
        #expect(fault?.kind == .failed && fault?.path != nil)
        #expect(try scene.home.read("outside.md") == NoteAppendTests.start)
    }

    @Test("A note in use is left for later") func noteQuietLeft() throws {
        let fault = #expect(throws: Fault.self) {
            try exchange.append([world.request("new")], to: note, world.journal.files(), quietFor: 3600) { _, _ in }
        }
        #expect(fault?.kind == .transient)
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start)
        #expect(try listDirectory(scene.path("notes")).count == 1)
    }

    @Test("Wherever it is killed, the block is there once and no file is left over") func whereverKilledBlock()
        async throws
    {
        try await kill(at: .max)
        let points = Int(try scene.home.read("points")) ?? 0
        #expect(points > 5)
        // `make campaign` kills it at all of them.
        var random = SeededGenerator(for: "kills in an exchange")
        for number in Thoroughness.sample(1..<(points + 1), 8, &random) {
            let scene = try ActionScene()
            try scene.home.write("notes/inbox.md", NoteAppendTests.start)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [home = scene.home.path.text as String, number = number as Int] in
                _ = try ExchangeChild.append(in: home, killedAt: number)
            }
            let world = try scene.open()
            try await world.notes.recover()
            _ = try await world.notes.append(world.request("new"))
            #expect(
                try scene.home.read("notes/inbox.md") == NoteAppendTests.start + "\n^cap-0930\nnew\n",
                "killed at \(number)")
            let names = try listDirectory(scene.path("notes")).map { String(decoding: $0.name, as: UTF8.self) }
            #expect(names == ["inbox.md"], "killed at \(number)")
        }
    }

    private func kill(at number: Int) async throws {
        await #expect(processExitsWith: .success) { [home = scene.home.path.text as String, number = number as Int] in
            let points = try ExchangeChild.append(in: home, killedAt: number)
            try write(BytePath("\(home)/points"), String(points))
        }
    }
}

/// What the killed process does.
enum ExchangeChild {
    static func exchange(_ world: ActionWorld) -> ExchangedNote {
        ExchangedNote(journal: world.journal, device: "desk", backups: world.home.appending("state/backups"))
    }

    /// - Returns: how many points were passed.
    static func append(in home: String, killedAt number: Int) throws -> Int {
        setenv("STEWARD_FAULT", "*:\(number)", 1)
        let world = try ActionWorld(BytePath(home))
        let request = world.request("new")
        _ = try exchange(world).append([request], to: request.note, world.journal.files(), quietFor: 0) { _, _ in }
        return FaultPoint.reached
    }
}
