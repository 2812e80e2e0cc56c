import Platform
import TKCore

/// A line of JSON from a language server to the agent, on a connection of the control socket. The first one opens it.
package struct EditorNews: Codable, Sendable {
    /// The request's name on the control socket.
    package static let name = "drafts"

    /// In the first line only.
    package var command: String?
    /// The drafts that are open now; nil if that is unchanged.
    package var drafts: [BytePath]?
    package var reply: EditorReply?

    package init(command: String? = nil, drafts: [BytePath]? = nil, reply: EditorReply? = nil) {
        (self.command, self.drafts, self.reply) = (command, drafts, reply)
    }
}

/// A line of JSON from the agent to a language server.
package struct AgentNews: Codable, Sendable {
    /// Those of the open drafts that a rule reviews. The server leaves the files of their reviews to it.
    package var kept: [BytePath]?
    package var wanted: EditorRequest?
    /// Why the agent refuses the connection.
    package var problem: String?

    package init(kept: [BytePath]? = nil, wanted: EditorRequest? = nil) { (self.kept, self.wanted) = (kept, wanted) }
}

/// Answers that were given outside of the editor which has the draft open.
package struct EditorRequest: Codable, Sendable, Equatable {
    package struct Answer: Codable, Sendable, Equatable {
        package var key: String
        /// The writer's own words in place of the proposal.
        package var words: String?

        package init(key: String, words: String? = nil) { (self.key, self.words) = (key, words) }
    }

    /// Repeated in the reply.
    package var serial = 0
    /// As the server spells it.
    package var draft: BytePath
    /// Hash of the file's text.
    package var content: ContentHash
    /// Accepted proposals that the file lacks.
    package var accepted: [Answer]
    /// Keys. With neither, the request is only about what was answered in the editor.
    package var skipped: [String]

    package init(draft: BytePath, content: ContentHash, accepted: [Answer] = [], skipped: [String] = []) {
        (self.draft, self.content, self.accepted, self.skipped) = (draft, content, accepted, skipped)
    }
}

/// What became of answers in an editor's buffer: the requested ones, and others that no file holds yet.
package struct EditorReply: Codable, Sendable, Equatable {
    package struct Taken: Codable, Sendable, Equatable {
        package var key: String
        /// Anchor of the words in the buffer; nil for a finding without a proposal.
        package var applied: TextAnchor?

        package init(key: String, applied: TextAnchor?) { (self.key, self.applied) = (key, applied) }
    }

    package struct Refused: Codable, Sendable, Equatable {
        package var key: String
        package var state: ReviewFinding.State
        /// The reason, for people.
        package var note: String

        package init(key: String, state: ReviewFinding.State, note: String) {
            (self.key, self.state, self.note) = (key, state, note)
        }
    }

    package var serial = 0
    /// Hash of the buffer's text with all that was taken. nil if the draft is not open any more.
    package var content: ContentHash?
    package var taken: [Taken] = []
    /// Keys.
    package var skipped: [String] = []
    package var refused: [Refused] = []

    package init() {}

    /// The answers that count for a text: what was skipped, and the rest if the buffer holds exactly this.
    func answers(about content: ContentHash) -> [String: SidecarAnswers.Answer] {
        var answers: [String: SidecarAnswers.Answer] = [:]
        for key in skipped { answers[key] = SidecarAnswers.Answer(mark: .skip) }
        guard self.content == content else { return answers }
        for finding in taken {
            answers[finding.key] = SidecarAnswers.Answer(mark: .accept, outcome: .applied(finding.applied))
        }
        for finding in refused {
            answers[finding.key] = SidecarAnswers.Answer(mark: .accept, outcome: .left(finding.state, finding.note))
        }
        return answers
    }
}
