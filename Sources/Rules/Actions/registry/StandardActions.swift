import CaptureActions
import ComicActions
import FileActions
import NoteActions
import ProcessActions
import ReviewActions
import Rules

/// Every action that rules can name, of all systems.
package enum StandardActions {
    package static func registry(_ services: ActionServices) -> ActionRegistry {
        ActionRegistry(
            NoteRegistry.actions(services.notes) + FileRegistry.actions(services.files)
                + CaptureRegistry.actions(services.captures) + ComicRegistry.actions(services.comics)
                + ReviewRegistry.actions(services.reviews) + ProcessRegistry.actions(services.processes))
    }
}
