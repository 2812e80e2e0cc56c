import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

/// Notes that are renamed between the beginning and the end of a write.
@Suite("Notes moved away during a write") struct NoteMovedTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private let note: BytePath
    private let archive: BytePath
    private let inPlace: InPlaceFile

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        archive = scene.path("notes/archive.md")
        inPlace = InPlaceFile(journal: world.journal, device: "desk")
    }

    private func moveAway() throws {
        guard rename(note.text, archive.text) == 0 else { throw Fault.system("rename", note) }
    }

    /// The result once no child of another test keeps the note open.
    private func unlessBusy(_ write: () throws -> InPlaceFile.Attempt) throws -> InPlaceFile.Attempt {
        for _ in 0..<4_000 {
            let attempt = try write()
            guard case .busy = attempt else { return attempt }
            usleep(5_000)
        }
        throw TestFailure("somebody keeps \(note) open")
    }

    @Test("A block written to one is in the note of that name only")
    func appended() async throws {
        let files = world.journal.files()
        let attempt = try unlessBusy {
            try inPlace.append([world.request("new")], to: note, files, begin: { _ in try moveAway() })
        }
        guard case .replaced = attempt else { throw TestFailure("\(attempt)") }
        #expect(try scene.home.read("notes/archive.md") == NoteAppendTests.start)
        #expect(try await world.ledger.read { try $0.openNoteWrites() }.isEmpty)
        let token = try await world.notes.append(world.request("new"))
        #expect(count("^\(token)\nnew\n", in: try scene.home.read("notes/inbox.md")) == 1)
        #expect(try scene.home.read("notes/archive.md") == NoteAppendTests.start)
    }

    @Test("A block removed from one is in it again")
    func rewritten() throws {
        let files = world.journal.files()
        let attempt = try unlessBusy {
            try inPlace.rewrite(
                note, files,
                change: { before in
                    try moveAway()
                    return Array(before.dropLast(8))
                })
        }
        guard case .replaced = attempt else { throw TestFailure("\(attempt)") }
        #expect(try scene.home.read("notes/archive.md") == NoteAppendTests.start)
        #expect(try world.ledger.readBlocking { try $0.openNoteWrites() }.isEmpty)
    }
}
