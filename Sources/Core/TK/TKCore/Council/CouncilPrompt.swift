import Platform

/// The prompt for each member of a council.
enum CouncilPrompt {
    /// The draft comes before all that differs between advisors, so that a server can cache it for all of them: one
    /// that caches prefixes automatically, or, if `kept`, one that needs a mark.
    static func request(
        _ role: Role, piece: String, question: String?, part: (number: Int, count: Int)?, storyType: StoryType?,
        stage: DraftStage?, engine: PromptEngine, maxTokens: Int, kept: Bool
    ) throws -> (request: LLMRequest, boundary: String) {
        let draft = engine.data([(label: "draft", text: piece)])
        let own = [
            engine.systemPrompt(for: role, storyType: storyType, stage: stage),
            task(question: question, part: part),
        ].joined(separator: "\n\n")
        let message = LLMRequest.Message.user(own, shared: draft)
        let request = LLMRequest(
            system: [.init(lead)], messages: [kept ? message : .user(message.whole)], maxTokens: maxTokens,
            schema: try schema())
        return (request, DraftFence(for: [piece]).boundary)
    }

    /// The same for every advisor.
    static let lead = """
        You are an advisor to a writer. First you get a draft to read, as data; behind it stand who you are, how you advise, \
        and what is asked of you.
        """

    static func task(question: String?, part: (number: Int, count: Int)?) -> String {
        var lines = [
            "You sit in a council of advisors. Say what you think of the draft above, independently of the others."
        ]
        if let question, !question.isEmpty { lines.append("The writer asks the council: \(question)") }
        if let part { lines.append("It is part \(part.number) of \(part.count) of a longer draft.") }
        lines.append(
            """

            Answer with one JSON object and nothing else: {"summary": two or three sentences, "points": [ … ]}. Give three \
            to seven points, good and bad, those that matter most. Each point has:
            - quote: the words that it is about, copied from the draft letter for letter, at most one sentence; empty for a \
            point about the whole draft
            - before: the three or four words that stand in front of the quote in the draft; empty at its beginning
            - aspect: \(CouncilAspect.allCases.map(\.rawValue).joined(separator: ", "))
            - stance: 1 where the draft does this well, -1 where it does not, 0 for neither
            - claim: the point in one sentence
            """)
        return lines.joined(separator: "\n")
    }

    static func schema() throws -> LLMSchema {
        let point = SuggestionPrompt.strict([
            ("quote", ["type": "string"]), ("before", ["type": "string"]),
            ("aspect", SuggestionPrompt.choice(CouncilAspect.allCases.map(\.rawValue))),
            ("stance", ["type": "integer", "enum": [-1, 0, 1]]), ("claim", ["type": "string"]),
        ])
        return try LLMSchema(
            name: "council",
            json: SuggestionPrompt.object([
                ("summary", ["type": "string"]), ("points", ["type": "array", "items": point]),
            ]))
    }
}

/// A point as a model writes it.
struct PointItem: Decodable, Sendable, Hashable {
    var quote: String
    var before: String
    var aspect: CouncilAspect
    var stance: CouncilStance
    var claim: String

    init(from decoder: any Decoder) throws {
        let members = try LooseMembers(decoder)
        let claim = members.text("claim", "point", "comment", "feedback", "text")
        self.claim = try members.required(claim, "claim") { !$0.isEmpty }
        quote = members.text("quote", "original_text", "original") ?? ""
        before = members.text("before", "prefix") ?? ""
        aspect = CouncilAspect.closest(to: members.text("aspect", "category", "topic") ?? "")
        let words: [String: Double] = [
            "+": 1, "positive": 1, "strength": 1, "good": 1, "favourable": 1, "pro": 1, "-": -1, "−": -1,
            "negative": -1,
            "critical": -1, "weakness": -1, "bad": -1, "against": -1, "contra": -1, "neutral": 0,
        ]
        let number =
            members.number("stance", words: words) ?? members.number("sentiment", words: words)
            ?? members.number("type", words: words) ?? 0
        stance = number > 0 ? .favourable : number < 0 ? .against : .neutral
    }
}

/// The rest of a member's answer.
struct CouncilSummary: Decodable, Sendable {
    var summary: String

    init(from decoder: any Decoder) throws {
        let members = try LooseMembers(decoder)
        summary = try members.required(members.text("summary", "opinion", "overall"), "summary")
    }
}
