import FileActions
import NoteActions
import Rules

/// Every action that rules can name.
package enum StandardActions {
    package static func registry(_ services: ActionServices) -> ActionRegistry {
        ActionRegistry(
            [ForEach.definition] + NoteRegistry.actions(services.notes) + FileRegistry.actions(services.files)
                + CaptureRegistry.actions(services.captures) + ArchiveRegistry.actions(services.archives)
                + ComicRegistry.actions(services.comics) + MediaRegistry.actions(services.media)
                + ReviewRegistry.actions(services.reviews) + ProcessRegistry.actions(services.processes)
                + PublishRegistry.actions(services.publishing))
    }
}
