import Glibc
import Platform
import Rules

/// A step's request for a block in a note.
package struct NoteRequest: Codable, Sendable, Equatable {
    /// The requesting step; its block is written once.
    package var step: String
    /// Absolute.
    package var note: BytePath
    /// Root of the A4 vault, which contains the note even through symlinks.
    package var root: BytePath
    package var heading: String
    /// The preferred token; it gets a suffix if the note already has it.
    package var token: String
    /// UTF-8, without control characters that would start another block.
    package var content: IntentText
    package var atEndOfFile: Bool
    /// Initial text of a new note; empty for none.
    package var starter: IntentText
    /// Permissions of the source file; a new note gets no wider ones.
    package var mode: mode_t?
    /// Order of blocks written together: arrival, in nanoseconds.
    package var order: Int64

    package init(
        step: String, note: BytePath, root: BytePath, heading: String, token: String, content: String,
        atEndOfFile: Bool,
        starter: String, mode: mode_t? = nil, order: Int64 = 0
    ) {
        self.mode = mode
        self.step = step
        self.note = note
        self.root = root
        self.heading = heading
        self.token = token
        self.content = IntentText(content, isForUndo: true)
        self.atEndOfFile = atEndOfFile
        self.starter = IntentText(starter)
        self.order = order
    }
}
