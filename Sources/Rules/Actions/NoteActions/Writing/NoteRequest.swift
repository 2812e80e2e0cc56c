import Glibc
import Platform
import Rules

/// A block that a step wants in a note.
package struct NoteRequest: Codable, Sendable, Equatable {
    /// The step that asks; its block is written once.
    package var step: String
    /// Absolute.
    package var note: BytePath
    /// The A4 vault's root; the note lies within it, links included.
    package var root: BytePath
    package var heading: String
    /// The token asked for; the note may hold it already, then a suffix is added.
    package var token: String
    /// UTF-8, without control characters that would begin another block.
    package var content: IntentText
    package var atEndOfFile: Bool
    /// What a note that does not exist starts from; empty for nothing.
    package var starter: IntentText
    /// The permissions of the file that the block was made from: a note that does not exist gets no wider ones.
    package var mode: mode_t?
    /// Blocks that are written together stand in this order: the arrivals', in nanoseconds.
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
