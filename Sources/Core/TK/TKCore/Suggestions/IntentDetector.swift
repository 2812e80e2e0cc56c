import Platform

/// A writer's intent, from a free-text request (docs/design/advisors.md, "Roles").
public enum WriterIntent: String, Codable, Sendable, CaseIterable {
    /// Suggestions about a draft.
    case feedback
    /// The views of several advisors.
    case council
    /// An answer.
    case question
    /// Changes to the draft.
    case rewrite
    /// A team of advisors.
    case team
    /// The draft in another format.
    case export
}

/// An intent and its confidence.
public struct DetectedIntent: Codable, Sendable, Hashable {
    /// The intent.
    public var intent: WriterIntent
    /// From 0 to 1.
    public var confidence: Double
    /// Whether a model was asked.
    public var isFromModel: Bool
    /// The calls that were made.
    public var calls: [CallSummary]
}

/// Detects a writer's intent from keywords, and by a model only if these are not conclusive.
public struct IntentDetector: Sendable {
    /// Below this, a model is asked if there is one.
    public static let certain = 0.6

    /// Nil: keywords decide.
    public let model: ModelAccess?
    /// Builds the prompts.
    public let prompts: PromptEngine

    /// Without a model, keywords decide.
    public init(prompts: PromptEngine, model: ModelAccess? = nil) {
        self.model = model
        self.prompts = prompts
    }

    /// A model's failure is not an error: the result from keywords is used then.
    ///
    /// - Throws: errors from the recorder, and `CancellationError`.
    public func detect(_ text: String) async throws -> DetectedIntent {
        var local = Self.byWords(text)
        guard local.confidence < Self.certain, let model, text.contains(where: { !$0.isWhitespace }) else {
            return local
        }
        do {
            let response = try await model.answer(.intent, advisors: [], try request(text))
            local.calls = [CallSummary(response)]
            guard !response.isRefused, let read = JSONSalvage.decode(Item.self, from: response.text)?.value else {
                return local
            }
            return DetectedIntent(
                intent: read.intent, confidence: read.confidence, isFromModel: true, calls: local.calls)
        } catch is LLMError {
            return local
        }
    }

    /// The call that ``detect(_:)`` will make; empty if keywords decide.
    public func plan(_ text: String) throws -> CallPlan {
        guard Self.byWords(text).confidence < Self.certain, let model else { return CallPlan([]) }
        return CallPlan([model.plan(.intent, advisors: [], try request(text))])
    }

    /// By keywords alone.
    public static func byWords(_ text: String) -> DetectedIntent {
        let scores = KeywordScore.scores(text, words)
        let trimmed = text.split(whereSeparator: \.isWhitespace)
        let asks =
            trimmed.last?.hasSuffix("?") == true
            || trimmed.first.map { questionWords.contains($0.lowercased()) } == true
        func detected(_ intent: WriterIntent, _ confidence: Double) -> DetectedIntent {
            DetectedIntent(intent: intent, confidence: confidence, isFromModel: false, calls: [])
        }
        guard let best = scores.first, let intent = WriterIntent(rawValue: best.name) else {
            return detected(asks ? .question : .feedback, asks ? 0.8 : 0.3)
        }
        let second = scores.dropFirst().first?.score ?? 0
        // “Can you shorten this?” is a request, “How do I shorten this?” is a question.
        if asks, trimmed.first.map({ questionWords.contains($0.lowercased()) }) == true {
            return detected(.question, best.score - second > 2 ? 0.5 : 0.8)
        }
        return detected(intent, best.score > second ? min(0.95, 0.6 + 0.1 * Double(best.score - second)) : 0.4)
    }

    private static let questionWords: Set<String> = [
        "what", "why", "how", "when", "where", "who", "which", "whose", "is", "are", "does", "do", "should", "did",
    ]

    private static let words: [String: [String]] = [
        "feedback": [
            "feedback", "review", "suggest", "critique", "comment", "check", "proofread", "improvements", "look at",
            "what do you think",
        ],
        "council": [
            "council", "debate", "opinions", "perspectives", "discuss", "disagree", "panel", "several advisors",
        ],
        "question": ["question", "explain", "wonder", "advice", "tell me", "difference between"],
        "rewrite": [
            "rewrite", "rephrase", "shorten", "simplify", "fix", "apply", "polish", "reword", "correct", "condense",
            "tighten", "make it",
        ],
        "team": ["team", "assemble", "advisors", "who should", "which advisors"],
        "export": ["export", "pdf", "docx", "html", "convert", "save as"],
    ]

    private struct Item: Decodable, Sendable {
        var intent: WriterIntent
        var confidence: Double

        init(from decoder: any Decoder) throws {
            let members = try LooseMembers(decoder)
            intent = try members.required(
                members.text("intent").flatMap { WriterIntent(rawValue: $0.lowercased()) }, "intent")
            confidence = min(max(members.number("confidence") ?? 0.7, 0), 1)
        }
    }

    private func request(_ text: String) throws -> LLMRequest {
        let task = """
            What does the writer want who says the words below? feedback: suggestions about a draft. council: the views of \
            several advisors. question: an answer. rewrite: the draft, changed. team: a team of advisors. export: the draft \
            in another format.

            Answer with one JSON object and nothing else: {"intent": one of these words, "confidence": from 0 to 1}.
            """
        let schema = SuggestionPrompt.object([
            ("intent", SuggestionPrompt.choice(WriterIntent.allCases.map(\.rawValue))),
            ("confidence", ["type": "number"]),
        ])
        return LLMRequest(
            system: "You classify what writers ask for.",
            user: prompts.userMessage(task: task, texts: [(label: "words", text: text)]), maxTokens: 256,
            schema: try LLMSchema(name: "intent", json: schema))
    }
}
