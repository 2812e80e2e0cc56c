import Platform

/// Asks a model to rebase a suggestion onto words that have changed since it was made, and checks the result.
public struct DriftMerger: Sendable {
    enum Answer: Sendable {
        case edit(Range<Int>, String)
        /// The reason, for a person.
        case rejected(String)
    }

    /// The model to ask.
    public let model: ModelAccess
    /// Fences the model's input.
    public let prompts: PromptEngine

    /// This many scalars on either side of the changed words may change with them: an article, a verb's ending.
    static let slack = 16
    /// A longer passage is not sent.
    private static let longestPassage = 4_000

    /// A merger for this model.
    public init(model: ModelAccess, prompts: PromptEngine) {
        self.model = model
        self.prompts = prompts
    }

    /// - Parameter range: the assumed place of the changed words.
    func edit(_ suggestion: Suggestion, at range: Range<Int>, in draft: DraftText) async throws -> Answer {
        let passage = Self.passage(around: range, in: draft)
        let window =
            max(
                passage.lowerBound, range.lowerBound - Self.slack)..<min(
                passage.upperBound, range.upperBound + Self.slack)
        let texts = [
            (label: "passage", text: draft[passage]), (label: "the words as they were", text: suggestion.originalText),
            (label: "the words proposed", text: suggestion.suggestedText),
        ]
        let task = """
            A writer has accepted a suggestion, but the passage has changed since it was made. Make the same change in the \
            passage as it stands now: replace only the words that correspond to the words as they were, keep what has \
            changed since as far as the proposal allows, and leave every other character of the passage as it is.

            Answer with one JSON object and nothing else: {"applies": true or false, "passage": the whole passage with the \
            change made}. Where the change makes no sense any more, applies is false and the passage is empty.
            """
        let request = LLMRequest(
            system: "You are a careful copy-editor who makes one change at a time.",
            user: prompts.userMessage(task: task, texts: texts),
            maxTokens: min(model.maxOutputTokens, ModelAccess.mostTokens(texts.map(\.text).joined()) + 256),
            schema: try LLMSchema(
                name: "merge",
                json: SuggestionPrompt.object([("applies", ["type": "boolean"]), ("passage", ["type": "string"])])))
        let response = try await model.answer(.merge, advisors: [suggestion.advisorID], request).whole()
        guard let answer = JSONSalvage.decode(Merged.self, from: response.text), !answer.isPartial else {
            return .rejected("the model's answer could not be read")
        }
        guard answer.value.applies, !answer.value.passage.isEmpty else {
            return .rejected("the model finds that the change makes no sense any more")
        }
        let boundary = DraftFence(for: texts.map(\.text)).boundary.lowercased()
        guard !answer.value.passage.lowercased().contains(boundary) else {
            return .rejected("the model's answer repeats the question")
        }
        return Self.check(
            FindingResolver.printable(answer.value.passage), for: passage, window: window,
            growth: suggestion.suggestedText.unicodeScalars.count, in: draft)
    }

    private struct Merged: Decodable, Sendable {
        var applies: Bool
        var passage: String

        private enum CodingKeys: CodingKey { case applies, passage }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            passage = try container.decode(String.self, forKey: .passage)
            applies = try container.decodeIfPresent(Bool.self, forKey: .applies) ?? true
        }
    }

    /// The smallest edit equivalent to a proposed passage, if it changes nothing outside `window` and adds no more than
    /// `growth` and the window's slack.
    static func check(
        _ proposed: String, for passage: Range<Int>, window: Range<Int>, growth: Int, in draft: DraftText
    ) -> Answer {
        let old = Array(draft.scalars[passage])
        var new = Array(LineEndings(old).adapted(proposed).unicodeScalars)
        // A model may drop or add line breaks around its input.
        let tail = old.reversed().prefix { $0 == "\n" || $0 == "\r" }.count
        while let last = new.last, last == "\n" || last == "\r" { new.removeLast() }
        new += old.suffix(tail)
        if !(old.contains { $0 == "\r" }) { new.removeAll { $0 == "\r" } }
        var start = 0
        while start < min(old.count, new.count), old[start] == new[start] { start += 1 }
        guard start < old.count || start < new.count else {
            return .rejected("the model left the passage as it is")
        }
        var end = 0
        while end < min(old.count, new.count) - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
        let changed = passage.lowerBound + start..<passage.upperBound - end
        guard window.lowerBound <= changed.lowerBound, changed.upperBound <= window.upperBound else {
            return .rejected("the model changed more than the words that the suggestion is about")
        }
        guard new.count - old.count <= growth + 2 * slack else {
            return .rejected("the model added more than the suggestion says")
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: new[start..<new.count - end])
        return .edit(changed, String(text))
    }

    /// The paragraph that contains a range, truncated if it is very long.
    static func passage(around range: Range<Int>, in draft: DraftText) -> Range<Int> {
        func isBlank(_ line: Int) -> Bool {
            draft.textRange(ofLine: line).allSatisfy { draft.scalars[$0].properties.isWhitespace }
        }
        var first = draft.line(at: range.lowerBound)
        while first > 1, !isBlank(first - 1) { first -= 1 }
        var last = draft.line(at: max(range.lowerBound, range.upperBound - 1))
        while last < draft.lineCount, !isBlank(last + 1) { last += 1 }
        let whole = draft.range(ofLine: first).lowerBound..<draft.range(ofLine: last).upperBound
        guard whole.count > longestPassage + range.count else { return whole }
        let half = longestPassage / 2
        return draft.graphemeRange(
            around: max(whole.lowerBound, range.lowerBound - half)..<min(whole.upperBound, range.upperBound + half))
    }
}
