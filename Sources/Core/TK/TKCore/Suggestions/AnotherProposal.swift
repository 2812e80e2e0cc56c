import Platform

/// Asks the maker of a finding for another wording, and for an answer to a writer's question about it
/// (docs/review.md, "Answering").
package struct AnotherProposal: Sendable {
    /// The result; there is a finding, a reply, or both.
    package struct Answer: Codable, Sendable, Equatable {
        /// The id of the advisor that answers, or ``Suggestion/quickPass``.
        package var by: String
        /// The finding with its new wording; nil if there is none.
        package var finding: Suggestion?
        /// The answer to the question, or why there is no other wording; else empty.
        package var reply: String

        /// An answer by an advisor.
        package init(by: String, finding: Suggestion? = nil, reply: String = "") {
            (self.by, self.finding, self.reply) = (by, finding, reply)
        }
    }

    /// The model that plays the advisor.
    package let model: ModelAccess
    /// Builds the prompts.
    package let prompts: PromptEngine

    /// A longer question is cut.
    package static let longestQuestion = 2_000

    /// Asks this model.
    package init(model: ModelAccess, prompts: PromptEngine) {
        self.model = model
        self.prompts = prompts
    }

    /// Sends the finding with its paragraph.
    ///
    /// - Parameters:
    ///   - question: the writer's own words; empty asks only for another wording.
    ///   - refused: earlier wordings, which are not proposed again.
    /// - Throws: ``LLMError``, errors from the recorder, `CancellationError`.
    package func ask(
        about finding: Suggestion, in draft: DraftText, question: String, refused: [String], _ role: Role,
        storyType: StoryType? = nil, stage: DraftStage? = nil
    ) async throws -> Answer {
        guard let range = AnchorResolver(draft).certainRange(of: finding.anchor) else { return Self.gone(role.id) }
        let question = String(question.prefix(Self.longestQuestion))
        let passage = DriftMerger.passage(around: range, in: draft)
        var texts = [
            (label: "passage", text: draft[passage]), (label: "the words in question", text: draft[range]),
            (label: "the reason given", text: finding.reasoning),
        ]
        texts += refused.map { (label: "words proposed before", text: $0) }
        let request = LLMRequest(
            system: prompts.systemPrompt(for: role, storyType: storyType, stage: stage),
            user: prompts.userMessage(task: Self.task(question), texts: texts), maxTokens: model.maxOutputTokens,
            schema: try LLMSchema(
                name: "proposal",
                json: SuggestionPrompt.object([
                    ("replacement", ["type": ["string", "null"]]), ("reason", ["type": "string"]),
                    ("answer", ["type": "string"]),
                ])))
        let response = try await model.answer(.question, advisors: [role.id], request).whole()
        let boundary = DraftFence(for: texts.map(\.text)).boundary.lowercased()
        let forged = JSONSalvage.decode(Item.self, from: draft[passage])?.value
        guard let item = JSONSalvage.decode(Item.self, from: response.text), !item.isPartial, item.value != forged,
            !response.text.lowercased().contains(boundary)
        else {
            return Answer(by: role.id, reply: "The answer could not be read. Ask again, or in other words.")
        }
        return Self.answer(
            item.value.answer, wording: item.value.replacement, reason: item.value.reason, to: finding, in: draft,
            refused: refused, by: role.id)
    }

    private static func task(_ question: String) -> String {
        let asked = question.isEmpty ? "" : "\nThe writer asks: \(question)"
        let answer = question.isEmpty ? "empty" : "the answer to the writer's question, at most five plain sentences"
        return """
            A writer has not taken a suggestion about some words of the passage below. Propose other words in their place \
            that meet the same concern and differ from those proposed before.\(asked)

            Answer with one JSON object and nothing else:
            - replacement: what should stand instead of the words in question, whole and ready to be put there; null if \
            no other words are better
            - reason: one or two sentences
            - answer: \(answer)
            """
    }

    /// What somebody answers, through the same gate as every proposal.
    ///
    /// - Parameters:
    ///   - wording: other words for the finding's place; nil for none. What was refused or would change more than words
    ///     is left out.
    ///   - reason: why; if empty, the finding's stays.
    ///   - by: who answers.
    package static func answer(
        _ reply: String, wording: String?, reason: String = "", to finding: Suggestion, in draft: DraftText,
        refused: [String], by advisor: String
    ) -> Answer {
        var reply = FindingResolver.printable(reply)
        guard let range = AnchorResolver(draft).certainRange(of: finding.anchor) else {
            return reply.isEmpty ? gone(advisor) : Answer(by: advisor, reply: reply)
        }
        let wording = wording.map { LineEndings(draft.scalars).adapted(FindingResolver.printable($0)) }
        let reason = FindingResolver.printable(reason)
        if let wording, !refused.contains(wording),
            let new = reworded(finding, wording, reason, range, draft)
        {
            if new.hasReplacement { return Answer(by: advisor, finding: new, reply: reply) }
            if reply.isEmpty { reply = new.reasoning }
        }
        return Answer(by: advisor, reply: reply.isEmpty ? noOther : reply)
    }

    /// The next wording that needs no model: that of an equivalent finding, or for a misspelt word another similar
    /// one. Blocks briefly if a dictionary has to be loaded.
    ///
    /// - Parameter refused: earlier wordings.
    /// - Returns: nil if there is none.
    package static func next(
        for finding: Suggestion, others: [Suggestion], in draft: DraftText, refused: [String], quick: QuickPass
    ) -> Answer? {
        guard let range = AnchorResolver(draft).certainRange(of: finding.anchor) else {
            return gone(finding.advisorID)
        }
        var candidates = others.filter { $0.hasReplacement && $0.originalText == finding.originalText }
            .map { (words: $0.suggestedText, reason: $0.reasoning, by: $0.advisorID) }
        if QuickPass.isSpelling(finding.rule) {
            candidates += quick.similar(to: draft[range], in: draft).map {
                (words: $0, reason: finding.reasoning, by: Suggestion.quickPass)
            }
        }
        for candidate in candidates where !refused.contains(candidate.words) {
            guard let new = reworded(finding, candidate.words, candidate.reason, range, draft), new.hasReplacement
            else { continue }
            return Answer(by: candidate.by, finding: new)
        }
        return nil
    }

    /// - Returns: nil for words that change nothing; without a replacement if the gate refuses them.
    private static func reworded(
        _ finding: Suggestion, _ words: String, _ reason: String, _ range: Range<Int>, _ draft: DraftText
    ) -> Suggestion? {
        guard words != draft[range], !words.isEmpty || finding.type == .remove else { return nil }
        var new = finding
        new.anchor = draft.anchor(of: range)
        new.originalText = draft[range]
        new.suggestedText = words
        new.hasReplacement = true
        if !reason.isEmpty { new.reasoning = reason }
        return ProposalGate(draft).admitted(new)
    }

    private static func gone(_ advisor: String) -> Answer {
        Answer(by: advisor, reply: "These words are no longer in the draft, or stand in several places.")
    }

    /// For a finding without another wording.
    package static let noOther = "There is no other wording for this."

    private struct Item: Decodable, Sendable, Equatable {
        var replacement: String?
        var reason: String
        var answer: String

        init(from decoder: any Decoder) throws {
            let members = try LooseMembers(decoder)
            let wording = members.text("replacement", "suggested_text", "suggestion", "proposal")
            answer = try members.required(members.text("answer", "reply") ?? wording.map { _ in "" }, "answer")
            replacement = wording
            reason = members.text("reason", "reasoning", "explanation", "why") ?? ""
        }
    }
}

extension QuickPass {
    /// Known words that resemble a misspelt one, likeliest first. Blocks briefly if a dictionary has to be loaded.
    func similar(to word: String, in draft: DraftText) -> [String] {
        let detected = lexicon.languages.language(of: draft.scalars.prefix(20_000), usual: QuickLexicon.english)
        let language = StatedLanguage.find(in: draft) ?? detected ?? QuickLexicon.english
        let checker = spelling?.checker(language, region: StatedLanguage.region(in: draft))
        let isCapitalised = word.first?.isUppercase == true
        return (checker?.proposals(isCapitalised ? word.lowercased() : word) ?? []).map {
            isCapitalised ? $0.prefix(1).uppercased() + $0.dropFirst() : $0
        }
    }
}
