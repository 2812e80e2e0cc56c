import Ledger
import Logging
import Platform
import Synchronization
import TestSupport
import Testing

@testable import NoteActions

/// Retries of putting back blocks lost by a save, in isolation.
@Suite("Retrying to restore lost blocks") struct SavedNotesTests {
    /// Its folder is deleted with it.
    private let scene: ActionScene
    private let world: ActionWorld
    private let note: BytePath
    private let timeout: EditorTimeout
    private let saved: SavedNotes
    private let looks = Looks()

    private final class Looks: Sendable {
        private let state = Mutex((count: 0, fails: 0))

        var count: Int { state.withLock { $0.count } }

        func fail(_ times: Int) { state.withLock { $0.fails = times } }

        func look(_ note: BytePath) throws {
            let fails = state.withLock { state in
                state.count += 1
                defer { state.fails -= 1 }
                return state.fails > 0
            }
            if fails { throw Fault(.transient, "kept open", path: note) }
        }
    }

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        note = world.home.appending("notes/inbox.md")
        timeout = EditorTimeout(NoteTimeouts(), BlockingPool("saved", threads: 1))
        saved = SavedNotes(
            journal: world.journal, timeout: timeout, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            delay: 0.01)
    }

    private func lose() async throws {
        let block = KeptBlockRecord(note: note, step: "j.0", token: "a", request: "{}", fate: "wiped")
        try await world.ledger.write { try $0.setKeptBlock(block) }
    }

    private func save() async throws {
        let looks = looks
        try await saved.noteWasSaved(note) { try looks.look($0) }
    }

    @Test("A save is examined at once") func saveLookedOnce() async throws {
        try await lose()
        try await save()
        #expect(looks.count == 1)
    }

    @Test("A block that cannot be restored is retried until it can") func putBackTried() async throws {
        try await lose()
        looks.fail(4)
        try await save()
        try await waitUntil("it could be done") { looks.count == 5 }
    }

    @Test("Without lost blocks nothing is retried") func nothingOwedNothing() async throws {
        looks.fail(1)
        try await save()
        try await save()
        #expect(looks.count == 2)
    }

    @Test("Shutdown retries nothing") func stoppingTriesNothing() async throws {
        try await lose()
        timeout.stop()
        looks.fail(1)
        try await save()
        try await save()
        #expect(looks.count == 2)
    }

    @Test("A permanent error is reported") func matterWaitingSaid() async throws {
        let fault = await #expect(throws: Fault.self) {
            try await saved.noteWasSaved(note) { throw Fault(.failed, "\($0) is read-only") }
        }
        #expect(fault?.kind == .failed)
    }
}
