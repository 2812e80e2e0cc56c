import Foundation
import Platform

/// A folder of drafts.
package struct JourneyProject: Sendable, Hashable, Identifiable {
    package let id: UUID
    package var name: String
    /// Nil if the project is not a folder.
    package var folder: BytePath?
    package var opened: Timestamp
}

/// A draft with its journey; the text itself is the file.
package struct JourneyDocument: Sendable, Hashable, Identifiable {
    package let id: UUID
    package var project: UUID?
    /// Nil for a text without a file.
    package var path: BytePath?
    package var title: String
    /// SHA-256 of the text to which the journey refers, 64 hexadecimal digits.
    package var textHash: String
    package var words: Int
    package let created: Timestamp
    package var modified: Timestamp
    package var journey: JourneyState
}

/// Questions to one advisor, and its answers.
package struct Conversation: Sendable, Hashable, Identifiable {
    package struct Message: Sendable, Hashable, Identifiable {
        package let id: UUID
        package let question: String
        package let answer: String
        package let time: Timestamp
    }

    package let id: UUID
    /// The advisor's id.
    package let role: String
    package let document: UUID?
    package let created: Timestamp
    /// Oldest first.
    package var messages: [Message]
}
