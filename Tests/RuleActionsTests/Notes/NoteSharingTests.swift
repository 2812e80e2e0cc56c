import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@testable import NoteActions

/// Notes that other programs have open, replace and append to at the same time.
@Suite("Notes open in other programs") struct NoteSharingTests {
    @Test("Nothing is lost or torn next to a process that appends at full speed") func nothingLostTorn()
        async throws
    {
        let scene = try ActionScene()
        let note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        let shell = try Shell("for i in $(seq 3000); do echo \"line $i of the shell\" >> \"$0\"; done", note.text)
        let world = try scene.open()
        for number in 0..<60 {
            _ = try await world.notes.append(world.request("block-\(number);", step: "job\(number).0"))
        }
        try shell.end()
        let lines = try scene.home.read("notes/inbox.md").split(separator: "\n")
        let wanted: [Substring] = (1...3000).map { "line \($0) of the shell" }
        let kept: [Substring] = lines.filter { $0.hasSuffix(" of the shell") }
        #expect(kept == wanted)
        for number in 0..<60 { #expect(lines.count { $0 == "block-\(number);" } == 1) }
        #expect(lines.count == 3124, "4 lines before, 3000 of the shell, 2 of each block")
    }

    @Test("A reader that never closes does not prevent writing") func readerNeverCloses() async throws {
        let scene = try ActionScene()
        let note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        let reader = try Descriptor(note)
        var options = ActionWorld.Options()
        options.noteTimeouts.open = 0.1
        let world = try scene.open(options)
        try await waitUntil("the note is quiet") {
            try isQuiet(note)
        }
        #expect(try await world.notes.append(world.request("new")) == "cap-0930")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start + "\n^cap-0930\nnew\n")
        #expect(String(decoding: try reader.readAll(), as: UTF8.self) == NoteAppendTests.start)
        // A copy of the replaced version is kept.
        let copy = BytePath("state/backups/\(ContentHash(of: NoteAppendTests.start.utf8))")
        #expect(try scene.home.read(copy) == NoteAppendTests.start)
    }

    @Test("Whoever keeps a note open for writing is named") func keepsNoteOpen() async throws {
        let scene = try ActionScene()
        let note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        let shell = try Shell("exec 3>>\"$0\"; read", note.text)
        try await waitUntil("the shell has it open") { Openers.processes(holding: note).contains { $0.id == shell.id } }
        var options = ActionWorld.Options()
        options.noteTimeouts.open = 0.1
        let world = try scene.open(options)
        let fault = await #expect(throws: Fault.self) { try await world.notes.append(world.request("new")) }
        #expect(fault?.kind == .transient)
        #expect(fault?.message.contains("bash (process \(shell.id))") == true, "\(fault?.message ?? "")")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start)
        try shell.end()
        _ = try await world.notes.append(world.request("new"))
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start + "\n^cap-0930\nnew\n")
    }

    @Test("An editor's lock is waited for", arguments: [".inbox.md.swp", ".#inbox.md", ".~lock.inbox.md#"])
    func editorLockWaited(_ lock: String) async throws {
        let scene = try ActionScene()
        try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        let beside = scene.path(BytePath("notes/\(lock)"))
        // emacs' lock is a dangling link.
        symlink("user@host.123", beside.text)
        var options = ActionWorld.Options()
        options.noteTimeouts.editor = 60
        let world = try scene.open(options)
        let note = scene.path("notes/inbox.md")
        let appended = Task { try await world.notes.append(world.request("new")) }
        try await waitUntil("it waits for the editor") {
            world.notes.waitingFor()[note] == "open in an editor (\(lock))"
        }
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start)
        unlink(beside.text)
        #expect(try await appended.value == "cap-0930")
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start + "\n^cap-0930\nnew\n")
    }

    @Test("An editor's lock that stays does not prevent writing for ever") func editorLockStays() async throws {
        let scene = try ActionScene()
        try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        try scene.home.write("notes/.inbox.md.swp", "b0VIM")
        let world = try scene.open()
        _ = try await world.notes.append(world.request("new"))
        #expect(try scene.home.read("notes/inbox.md").hasSuffix("^cap-0930\nnew\n"))
    }

    @Test("If a note is replaced in between, the current file gets the block")
    func noteRenamedOver() async throws {
        let scene = try ActionScene()
        let note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        var options = ActionWorld.Options()
        // A program started by another test briefly has the note open.
        options.noteTimeouts.open = 60
        let world = try scene.open(options)
        let ledger = world.ledger
        let hold = DispatchSemaphore(value: 0)
        let isHeld = DispatchSemaphore(value: 0)
        // While the ledger is locked, the write cannot begin: it stops with the lease held.
        Thread.detachNewThread {
            try? ledger.writeBlocking { _ in
                isHeld.signal()
                // With a timeout: if the test has failed by then, everything that waits for the ledger has to finish.
                _ = hold.wait(timeout: .now() + 180)
            }
        }
        await Task.detached { Self.wait(isHeld) }.value
        let appended = Task { try await world.notes.append(world.request("new")) }
        try await BlockingPool("beside").run { try world.untilLeased(note) }
        let saved = "# Inbox\n\nsaved by an editor\n"
        let other = try scene.home.write("notes/.inbox.new", saved)
        rename(other.text, note.text)
        hold.signal()
        #expect(try await appended.value == "cap-0930")
        #expect(try scene.home.read("notes/inbox.md") == saved + "\n## Captures\n\n^cap-0930\nnew\n")
    }

    /// While the ledger is locked, an append has the lease, and an `echo >>` waits for it.
    private func besideAWaitingAppender(
        limit: Duration?, untilTheKernelEndsIt isLong: Bool = false,
        _ check: (InPlaceFile.Attempt, String, ActionWorld) throws -> Void
    ) async throws {
        let scene = try ActionScene()
        let note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        try await letGo(note)
        let world = try scene.open()
        let hold = DispatchSemaphore(value: 0)
        let isHeld = DispatchSemaphore(value: 0)
        let ledger = world.ledger
        Thread.detachNewThread {
            try? ledger.writeBlocking { _ in
                isHeld.signal()
                _ = hold.wait(timeout: .now() + 180)
            }
        }
        await Task.detached { Self.wait(isHeld) }.value
        let inPlace = InPlaceFile(journal: world.journal, device: "desk", limit: limit)
        let pool = BlockingPool("append")
        async let attempt = pool.run {
            try inPlace.append([world.request("new")], to: note, world.journal.files())
        }
        let shell = try await BlockingPool("beside").run {
            // Also on failure, so that everything that waits for the ledger finishes.
            defer { hold.signal() }
            try world.untilLeased(note)
            let shell = try Shell("echo 'a line of the shell' >> \"$0\"", note.text)
            try world.untilLeased(note, "BREAKING", by: shell.id)
            while isLong, try world.isLeased(note) { usleep(5_000) }
            return shell
        }
        let done = try await attempt
        try shell.end()
        try check(done, try scene.home.read("notes/inbox.md"), world)
    }

    @Test("A lease that may end before the first byte is returned") func leaseEndBefore() async throws {
        try await besideAWaitingAppender(limit: .zero) { attempt, text, world in
            guard case .replaced = attempt else { throw TestFailure("\(attempt)") }
            #expect(text == NoteAppendTests.start + "a line of the shell\n")
            #expect(try world.ledger.readBlocking { try $0.openNoteWrites() }.isEmpty)
        }
    }

    @Test("A lease sure to last is used even if somebody waits") func leaseSureLast() async throws {
        try await besideAWaitingAppender(limit: .seconds(3600)) { attempt, text, _ in
            guard case .written = attempt else { throw TestFailure("\(attempt)") }
            #expect(text == NoteAppendTests.start + "\n^cap-0930\nnew\na line of the shell\n")
        }
    }

    @Test(.enabled(if: Thoroughness.isWhole, "the kernel takes 45 seconds to end a lease"))
    func noLineIsLostWhenTheLedgerHangsForLongerThanTheKernelWaits() async throws {
        try await besideAWaitingAppender(limit: nil, untilTheKernelEndsIt: true) { attempt, text, _ in
            guard case .replaced = attempt else { throw TestFailure("\(attempt)") }
            #expect(text == NoteAppendTests.start + "a line of the shell\n")
        }
    }

    @Test("A note that an editor has renamed away briefly is not recreated") func noteEditorRenamed() async throws {
        let scene = try ActionScene()
        let note = try scene.home.write("notes/inbox.md", NoteAppendTests.start)
        rename(note.text, note.text + "~")
        var options = ActionWorld.Options()
        options.noteTimeouts.editor = 60
        let world = try scene.open(options)
        let appended = Task { try await world.notes.append(world.request("new")) }
        try await waitUntil("it waits for the editor") {
            world.notes.waitingFor()[note] == "renamed away by an editor that is saving it"
        }
        #expect(try !scene.exists("notes/inbox.md"))
        try scene.home.write("notes/inbox.md", NoteAppendTests.start + "typed\n")
        let inode = try FileStatus.of(note)?.inode
        unlink(note.text + "~")
        _ = try await appended.value
        #expect(try scene.home.read("notes/inbox.md") == NoteAppendTests.start + "typed\n\n^cap-0930\nnew\n")
        #expect(try FileStatus.of(note)?.inode == inode)
    }

    @Test("A missing note is created once for many blocks") func noteMissingMade() async throws {
        let scene = try ActionScene()
        let world = try scene.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    _ = try await world.notes.append(world.request("text-\(number);", step: "job\(number).0"))
                }
            }
            try await group.waitForAll()
        }
        let text = try scene.home.read("notes/inbox.md")
        for number in 0..<20 { #expect(count("text-\(number);", in: text) == 1) }
        #expect(count("## Captures", in: text) == 1)
        #expect(try listDirectory(scene.path("notes")).count == 1)
    }

    private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

    private func isQuiet(_ note: BytePath) throws -> Bool {
        guard let status = try FileStatus.of(note) else { return false }
        return Timestamp.now().nanoseconds - status.fingerprint.modified > 100_000_000
    }
}
