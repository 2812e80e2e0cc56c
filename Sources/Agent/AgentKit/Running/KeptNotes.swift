import Ledger
import Logging
import NoteActions
import Platform
import Rules

extension AgentCore {
    /// Checks, in the background, notes that may have been saved while the agent was not watching. A place whose file
    /// system does not answer delays no other.
    func lookAfterNotes() async throws {
        let (notes, places, log) = (notes, places, log)
        let kept = try await ledger.read { try $0.keptNotes() }
        for own in Dictionary(grouping: kept, by: { places.locate($0)?.place.name }).values {
            Task {
                for note in own {
                    do {
                        try await notes.noteWasSaved(note)
                    } catch {
                        log.error("cannot check the blocks of \(note): \(explain(error))")
                    }
                }
            }
        }
    }
}
