import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

/// Writes into a note torn by a crash, in every way that a disk can tear them.
@Suite("Notes torn by a crash") struct NoteRecoveryTests {
    static let notes = [
        NoteAppendTests.start,
        // The block goes into the middle, so the old tail must be known as well.
        "# Inbox\n\n## Captures\n\n^cap-0800\nold\n\n## Later\n\nto read, and to think about for a while\n",
        "# Inbox\r\n\r\n## Captures\r\n\r\none\r\n",
        "",
    ]

    /// A write that was begun, with the note before and after it.
    private struct Begun {
        let scene: ActionScene
        let world: ActionWorld
        let path: BytePath
        let before: [UInt8]
        let after: [UInt8]
        let tail: (position: Int, old: [UInt8], new: [UInt8])

        init(_ note: String) throws {
            scene = try ActionScene()
            world = try scene.open()
            path = try scene.home.write("notes/inbox.md", note)
            before = Array(note.utf8)
            after = try ComposedNote(before, [world.request("a new line")], device: "desk").bytes
            let common = zip(before, after).prefix { $0 == $1 }.count
            tail = (common, Array(before[common...]), Array(after[common...]))
        }

        /// Makes `bytes` the note's content, and examines the write.
        func recover(_ bytes: [UInt8]) throws -> NoteRecovery.Finding {
            try begin(bytes)
            return try recover()
        }

        /// Makes `bytes` the note's content.
        func begin(_ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(fileURLWithPath: path.text))
            guard let status = try FileStatus.of(path) else { throw TestFailure("no note") }
            try world.ledger.writeBlocking {
                _ = try $0.beginNoteWrite(
                    NoteWriteRecord(
                        note: path, device: status.device, inode: status.inode, base: ContentHash(of: before),
                        result: ContentHash(of: after), position: Int64(tail.position), oldTail: tail.old,
                        newTail: tail.new, blocks: [NoteBlockRecord(step: "job.0", token: "cap-0930")]))
            }
        }

        func recover() throws -> NoteRecovery.Finding {
            let open = try world.ledger.readBlocking { try $0.openNoteWrites() }
            guard let write = open.first, open.count == 1 else { throw TestFailure("\(open.count) open writes") }
            return try NoteRecovery(journal: world.journal).recover(write)
        }

        var now: [UInt8] { get throws { try Descriptor(path).readAll() } }
        var isWritten: Bool { get throws { try world.ledger.readBlocking { try $0.noteBlock(step: "job.0") } != nil } }
    }

    @Test("Whatever part of the tail reached the disk, the write is completed or void", arguments: notes)
    func whateverPartTail(_ note: String) throws {
        let begun = try Begun(note)
        let (position, old, new) = begun.tail
        for length in 0...new.count {
            let torn = begun.before[..<position] + new[..<length] + old.dropFirst(length)
            let finding = try begun.recover(Array(torn))
            if Array(torn) == begun.before {
                #expect(finding == .void, "\(length)")
                #expect(try begun.now == begun.before)
                #expect(try !begun.isWritten)
            } else {
                #expect(finding == (Array(torn) == begun.after ? .done : .mended), "\(length)")
                #expect(try begun.now == begun.after)
                #expect(try begun.isWritten)
            }
        }
    }

    @Test("Blocks left zero by the disk are filled", arguments: notes) func blocksDiskLeft(_ note: String) throws {
        let begun = try Begun(note)
        let (position, _, new) = begun.tail
        for length in stride(from: 0, to: new.count, by: 3) {
            let zeros = [UInt8](repeating: 0, count: new.count - length)
            #expect(try begun.recover(Array(begun.before[..<position] + new[..<length] + zeros)) == .mended)
            #expect(try begun.now == begun.after)
            // The beginning may be the missing part.
            let head = [UInt8](repeating: 0, count: length)
            let torn = Array(begun.before[..<position] + head + new[length...])
            #expect(try begun.recover(torn) == (torn == begun.after ? .done : .mended))
            #expect(try begun.now == begun.after)
        }
    }

    @Test("Later changes by others are never touched", arguments: notes) func somebodyWroteSince(_ note: String) throws
    {
        let begun = try Begun(note)
        let (position, _, new) = begun.tail
        let half = Array(begun.before[..<position] + new[..<(new.count / 2)])
        for version in [
            half + Array("and then I typed a line that is longer than the tail that was to be written here\n".utf8),
            Array("something else\n".utf8), begun.before + Array("mine\n".utf8), [],
        ] where version != begun.before {
            let finding = try begun.recover(version)
            if version.isEmpty && begun.before.isEmpty { continue }
            #expect(finding == .rewritten(blocksPresent: false) || version.starts(with: begun.before[..<position]))
            if finding == .rewritten(blocksPresent: false) { #expect(try begun.now == version) }
        }
    }

    @Test("A line typed after a complete write leaves the block written") func lineTypedAfter() throws {
        let begun = try Begun(NoteAppendTests.start)
        #expect(try begun.recover(begun.after + Array("mine\n".utf8)) == .rewritten(blocksPresent: true))
        #expect(try begun.now == begun.after + Array("mine\n".utf8))
        #expect(try begun.isWritten)
    }

    @Test("A note that somebody made too long is left alone, and does not block the start")
    func tooLong() throws {
        let begun = try Begun(NoteAppendTests.start)
        try begun.begin(begun.after)
        try Descriptor(begun.path, O_RDWR).truncate(to: Descriptor.textLimit + 1)
        #expect(try begun.recover() == .held)
        #expect(try FileStatus.of(begun.path)?.size == Descriptor.textLimit + 1)
    }

    @Test("A torn note that somebody has open for writing is left alone") func tornNoteSomebody() throws {
        let begun = try Begun(NoteAppendTests.start)
        let torn = Array(begun.after.dropLast(4))
        try Data(torn).write(to: URL(fileURLWithPath: begun.path.text))
        let writer = try Descriptor(begun.path, O_RDWR)
        #expect(try begun.recover(torn) == .held)
        #expect(try begun.now == torn)
        _ = writer
    }

    @Test("A missing note voids its write") func noteGoneVoids() async throws {
        let begun = try Begun(NoteAppendTests.start)
        #expect(try begun.recover(Array(begun.after.dropLast(4))) == .mended)
        _ = try begun.recover(begun.before)
        try begun.world.ledger.writeBlocking {
            _ = try $0.beginNoteWrite(
                NoteWriteRecord(
                    note: begun.path, device: 1, inode: 1, base: ContentHash(of: []), result: ContentHash(of: []),
                    position: 0, oldTail: [], newTail: [], blocks: [NoteBlockRecord(step: "job.1", token: "cap-1000")]))
        }
        unlink(begun.path.text)
        try await begun.world.notes.recover()
        #expect(try await begun.world.ledger.read { try $0.openNoteWrites() }.isEmpty)
        #expect(try await begun.world.notes.written(step: "job.1") == nil)
    }
}
