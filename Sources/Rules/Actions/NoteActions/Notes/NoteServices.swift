import FileActions
import Foundation
import Platform
import Rules

/// Dependencies of the note actions.
package struct NoteServices: Sendable {
    let notes: NoteWriter
    let placing: FileServices
    let timeZone: Zone

    var files: BlockingPool { placing.files }
    var journal: EffectJournal { placing.journal }

    package init(notes: NoteWriter, placing: FileServices, timeZone: Zone) {
        self.notes = notes
        self.placing = placing
        self.timeZone = timeZone
    }
}
