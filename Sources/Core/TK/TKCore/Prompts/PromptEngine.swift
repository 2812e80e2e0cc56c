import Platform

/// Builds prompts (docs/design/advisors.md, "What is asked"): voice, constraints, structure, focus, output, genre
/// context, in this order, joined by an empty line, with empty sections left out.
///
/// A draft is data, never instruction: it enters a prompt only through ``DraftFence``, and no section depends on it
/// except for the fence's boundary.
public struct PromptEngine: Sendable {
    /// The sections shared by all advisors.
    public struct Sections: Sendable, Hashable {
        /// Things that advisors leave alone, and wording that they never use.
        public var constraints: String
        /// Expectations for a text as a whole.
        public var structure: String
        /// The form of answers.
        public var output: String
        /// Says that fenced text is for review; contains `{{boundary}}`.
        public var data: String
        /// Additions for a draft's stage.
        public var stages: [DraftStage: String]

        /// Sections from elsewhere than the bundle.
        public init(
            constraints: String, structure: String, output: String, data: String, stages: [DraftStage: String]
        ) {
            (self.constraints, self.structure, self.output) = (constraints, structure, output)
            (self.data, self.stages) = (data, stages)
        }
    }

    /// The sections shared by all advisors.
    public let sections: Sections

    /// An engine with these sections.
    public init(sections: Sections) { self.sections = sections }

    /// Blocks briefly.
    package static func load(_ resources: TKResources) throws -> PromptEngine {
        var stages: [DraftStage: String] = [:]
        for stage in DraftStage.allCases { stages[stage] = try resources.text("prompts/stage-\(stage.rawValue).md") }
        let data = try resources.text("prompts/data.md")
        guard data.contains("{{boundary}}") else {
            throw Fault(.failed, "\(resources.folder)/prompts/data.md lacks {{boundary}}; install the package again")
        }
        return PromptEngine(
            sections: Sections(
                constraints: try resources.text("prompts/constraints.md"),
                structure: try resources.text("prompts/structure.md"),
                output: try resources.text("prompts/output.md"), data: data, stages: stages))
    }

    /// The sections in order, without empty ones.
    public func buildPrompt(voiceAndTone: String, focus: String = "", genreContext: String = "") -> String {
        Self.join([
            voiceAndTone, sections.constraints, sections.structure, focus, sections.output, Self.genre(genreContext),
        ])
    }

    /// An advisor's system prompt.
    ///
    /// - Parameters:
    ///   - storyType: adds the genre's context.
    ///   - stage: determines what the advisor comments on; placed last, where it has the most weight.
    public func systemPrompt(for role: Role, storyType: StoryType? = nil, stage: DraftStage? = nil) -> String {
        Self.join([
            buildPrompt(
                voiceAndTone: "VOICE AND TONE:\n\(role.voiceAndTone)", focus: Self.focus(of: role),
                genreContext: storyType?.genreContext ?? ""),
            stage.flatMap { sections.stages[$0] } ?? "",
        ])
    }

    /// The system prompt for several advisors in one call: the shared sections once, then each advisor's voice and
    /// focus under its id.
    public func systemPrompt(for roles: [Role], storyType: StoryType? = nil, stage: DraftStage? = nil) -> String {
        if roles.count == 1, let role = roles.first {
            return systemPrompt(for: role, storyType: storyType, stage: stage)
        }
        let voices = roles.map { role in
            Self.join(["ADVISOR \(role.id) (\(role.name)):\n\(role.voiceAndTone)", Self.focus(of: role)])
        }
        let lead =
            "VOICE AND TONE:\nYou speak for \(roles.count) advisors, one after the other. Each keeps to its own voice "
            + "and its own focus, and does not repeat another. They may contradict each other."
        return Self.join([
            buildPrompt(
                voiceAndTone: lead, focus: Self.join(voices), genreContext: storyType?.genreContext ?? ""),
            stage.flatMap { sections.stages[$0] } ?? "",
        ])
    }

    /// An advisor's focus, guidelines and example as one section of a prompt.
    public static func focus(of role: Role) -> String {
        var parts: [String] = []
        if !role.focusAreas.isEmpty { parts.append("FOCUS:\n" + list(role.focusAreas)) }
        if !role.guidelines.isEmpty { parts.append("GUIDELINES:\n" + list(role.guidelines)) }
        if let example = role.example {
            let lines = [("Instead of", example.bad), ("Write", example.good), ("Because", example.why)]
                .compactMap { label, text in text.map { "\(label): \($0)" } }
            if !lines.isEmpty { parts.append("EXAMPLE:\n" + lines.joined(separator: "\n")) }
        }
        return join(parts)
    }

    /// The request about some texts: the task, the note about data, then each text in the fence.
    ///
    /// - Parameters:
    ///   - task: the program's own words; it must not contain anything from a draft, a file's name or another model.
    ///   - texts: the program's own label, and the text: the draft, the selected part, a user's question.
    public func userMessage(task: String, texts: [(label: String, text: String)]) -> String {
        Self.join([task, data(texts)])
    }

    /// The note about data and the fenced texts: ``userMessage(task:texts:)`` without the task.
    public func data(_ texts: [(label: String, text: String)]) -> String {
        let fence = DraftFence(for: texts.map(\.text))
        return Self.join(
            [sections.data.replacing("{{boundary}}", with: fence.boundary)]
                + texts.map { fence.enclose($0.text, label: $0.label) })
    }

    /// ``userMessage(task:texts:)`` for a draft and its selected part, if any.
    public func userMessage(task: String, draft: String, selection: String? = nil) -> String {
        var texts = [(label: "draft", text: draft)]
        if let selection, !selection.isEmpty { texts.append((label: "selection", text: selection)) }
        return userMessage(task: task, texts: texts)
    }

    private static func genre(_ context: String) -> String {
        context.isEmpty ? "" : "GENRE CONTEXT:\n\(context)"
    }

    private static func list(_ items: [String]) -> String { items.map { "- \($0)" }.joined(separator: "\n") }

    private static func join(_ sections: [String]) -> String {
        sections.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }
}

/// The stage of a draft; determines what an advisor comments on.
public enum DraftStage: String, Codable, Sendable, CaseIterable {
    case early, middle, late
}
