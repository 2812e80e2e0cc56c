import Foundation
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import NoteActions

/// Waiting for people who have a note open, in isolation.
@Suite("Waiting for people who have a note open") struct EditorTimeoutTests {
    private let folder: TemporaryFolder
    private let note: BytePath
    private let files: HeldFiles

    init() throws {
        folder = try TemporaryFolder("steward-editors")
        note = try folder.write("note.md", "text\n")
        files = HeldFiles(own: folder.path)
    }

    private func timeout(_ change: (inout NoteTimeouts) -> Void) -> EditorTimeout {
        var limits = NoteTimeouts()
        (limits.open, limits.editor, limits.settle) = (3600, 3600, 3600)
        change(&limits)
        return EditorTimeout(limits, BlockingPool("editors", threads: 2))
    }

    @Test("Without an editor there is no wait") func withoutEditorNothing() async throws {
        #expect(try await timeout { _ in }.waitForEditor(of: note, files) { true } == nil)
    }

    @Test("A sign of an editor is waited for and saves in the meantime are examined") func editorSignWaited()
        async throws
    {
        let timeout = timeout { _ in }
        let lock = try folder.write(".note.md.swp", "b0VIM")
        let looks = Mutex(0)
        let waiting = Task {
            try await timeout.waitForEditor(of: note, files) {
                looks.withLock {
                    $0 += 1; return $0 > 1
                }
            }
        }
        try await waitUntil("it is looked at until that could be done") { looks.withLock { $0 } == 2 }
        #expect(timeout.heldUp[note] == "open in an editor (.note.md.swp)")
        try folder.write("note.md", "another text\n")
        try await waitUntil("the save is looked at") { looks.withLock { $0 } == 3 }
        try Durable.remove(lock)
        #expect(try await waiting.value == nil)
        timeout.end(note)
        #expect(timeout.heldUp.isEmpty)
    }

    @Test("A lasting sign is reported") func signStaysNamed() async throws {
        let lock = try folder.write(".note.md.swp", "b0VIM")
        let stays = try await timeout { $0.editor = 0.05 }.waitForEditor(of: note, files) { true }
        #expect(stays?.name.elementsEqual(lock.name) == true)
    }

    @Test("Shutdown waits for nobody") func stoppingWaitsNobody() async throws {
        try folder.write(".note.md.swp", "b0VIM")
        let timeout = timeout { _ in }
        timeout.stop()
        let fault = await #expect(throws: Fault.self) { try await timeout.waitForEditor(of: note, files) { true } }
        #expect(fault?.kind == .transient && fault?.message.contains("the agent is stopping") == true)
    }

    @Test("Whoever keeps it open is waited for, and named after the timeout") func keepsOpenWaited() async throws {
        let reader = try Descriptor(note)
        let timeout = timeout { _ in }
        #expect(try await timeout.waitForOpeners(of: note, files, since: .now, tries: 0))
        #expect(timeout.heldUp[note]?.hasPrefix("kept open by ") == true)
        let short = self.timeout { $0.open = 0 }
        #expect(try await !short.waitForOpeners(of: note, files, since: .now - .seconds(1), tries: 0))
        #expect(try reader.status().size == 5)
    }

    @Test("A note that an editor has renamed away is waited for") func noteEditorRenamed() async throws {
        let timeout = timeout { $0.settle = 0 }
        #expect(try await timeout.staysMissing(folder.path.appending("other.md"), files))
        try Durable.remove(note)
        let backup = try folder.write("note.md~", "text\n")
        let waiting = Task { try await timeout.staysMissing(note, files) }
        try folder.write("note.md", "saved\n")
        #expect(try await !waiting.value)
        try Durable.remove(backup)
    }
}
