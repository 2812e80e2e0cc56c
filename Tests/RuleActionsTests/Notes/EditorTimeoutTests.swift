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
        folder = try TemporaryFolder("steward-patience")
        note = try folder.write("note.md", "text\n")
        files = HeldFiles(own: folder.path)
    }

    private func patience(_ change: (inout NoteTimeouts) -> Void) -> EditorTimeout {
        var limits = NoteTimeouts()
        (limits.open, limits.editor, limits.settle) = (3600, 3600, 3600)
        change(&limits)
        return EditorTimeout(limits, BlockingPool("patience", threads: 2))
    }

    @Test("Without an editor nothing is waited for") func withoutEditorNothing() async throws {
        #expect(try await patience { _ in }.waitForEditor(of: note, files) { true } == nil)
    }

    @Test("An editor's sign is waited for and what is saved meanwhile is looked at") func editorSignWaited()
        async throws
    {
        let patience = patience { _ in }
        let lock = try folder.write(".note.md.swp", "b0VIM")
        let looks = Mutex(0)
        let waiting = Task {
            try await patience.waitForEditor(of: note, files) {
                looks.withLock {
                    $0 += 1; return $0 > 1
                }
            }
        }
        try await waitUntil("it is looked at until that could be done") { looks.withLock { $0 } == 2 }
        #expect(patience.heldUp[note] == "open in an editor (.note.md.swp)")
        try folder.write("note.md", "another text\n")
        try await waitUntil("the save is looked at") { looks.withLock { $0 } == 3 }
        try Durable.remove(lock)
        #expect(try await waiting.value == nil)
        patience.end(note)
        #expect(patience.heldUp.isEmpty)
    }

    @Test("A sign that stays is named") func signStaysNamed() async throws {
        let lock = try folder.write(".note.md.swp", "b0VIM")
        let stays = try await patience { $0.editor = 0.05 }.waitForEditor(of: note, files) { true }
        #expect(stays?.name.elementsEqual(lock.name) == true)
    }

    @Test("Who is stopping waits for nobody") func stoppingWaitsNobody() async throws {
        try folder.write(".note.md.swp", "b0VIM")
        let patience = patience { _ in }
        patience.stop()
        let fault = await #expect(throws: Fault.self) { try await patience.waitForEditor(of: note, files) { true } }
        #expect(fault?.kind == .transient && fault?.message.contains("the agent is stopping") == true)
    }

    @Test("Who keeps it open is waited for and named until it has been long enough") func keepsOpenWaited() async throws
    {
        let reader = try Descriptor(note)
        let patience = patience { _ in }
        #expect(try await patience.waitForOpeners(of: note, files, since: .now, tries: 0))
        #expect(patience.heldUp[note]?.hasPrefix("kept open by ") == true)
        let short = self.patience { $0.open = 0 }
        #expect(try await !short.waitForOpeners(of: note, files, since: .now - .seconds(1), tries: 0))
        #expect(try reader.status().size == 5)
    }

    @Test("A note that an editor has renamed away is waited for") func noteEditorRenamed() async throws {
        let patience = patience { $0.settle = 0 }
        #expect(try await patience.staysMissing(folder.path.appending("other.md"), files))
        try Durable.remove(note)
        let backup = try folder.write("note.md~", "text\n")
        let waiting = Task { try await patience.staysMissing(note, files) }
        try folder.write("note.md", "saved\n")
        #expect(try await !waiting.value)
        try Durable.remove(backup)
    }
}
