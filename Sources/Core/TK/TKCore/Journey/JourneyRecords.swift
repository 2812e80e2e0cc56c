import Foundation
import Platform

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
    package let created: Timestamp
    /// Oldest first.
    package var messages: [Message]
}
