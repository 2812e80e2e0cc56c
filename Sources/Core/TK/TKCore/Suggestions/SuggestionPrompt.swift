import Platform

/// The request to advisors, and the schema of the answer.
enum SuggestionPrompt {
    /// The request about one piece of a draft.
    ///
    /// - Parameters:
    ///   - piece: the text to send.
    ///   - part: the piece's number and the total, from 1; nil for a whole draft.
    /// - Returns: the request, and the boundary of the fence in it.
    static func request(
        piece: String, selection: String?, part: (number: Int, count: Int)?, options: ReviewOptions,
        engine: PromptEngine, maxTokens: Int
    ) throws -> (request: LLMRequest, boundary: String) {
        let texts = [piece] + (selection.map { [$0] } ?? [])
        let request = LLMRequest(
            system: engine.systemPrompt(for: options.advisors, storyType: options.storyType, stage: options.stage),
            user: engine.userMessage(
                task: task(options, part: part, hasSelection: selection != nil), draft: piece, selection: selection),
            maxTokens: maxTokens, schema: try schema(options))
        return (request, DraftFence(for: texts).boundary)
    }

    /// The request about a part of a draft, with the words around it as context.
    static func request(
        piece: String, before: String, after: String, options: ReviewOptions, engine: PromptEngine, maxTokens: Int
    ) throws -> (request: LLMRequest, boundary: String) {
        let texts = [(label: "before", text: before), (label: "draft", text: piece), (label: "after", text: after)]
            .filter { !$0.text.isEmpty }
        let context =
            "The draft is a part of a longer text. What stands before and after it is given for context alone: do not "
            + "remark on that.\n"
        let request = LLMRequest(
            system: engine.systemPrompt(for: options.advisors, storyType: options.storyType, stage: options.stage),
            user: engine.userMessage(task: context + task(options, part: nil, hasSelection: false), texts: texts),
            maxTokens: maxTokens, schema: try schema(options))
        return (request, DraftFence(for: texts.map(\.text)).boundary)
    }

    /// The task, which depends only on the options.
    static func task(_ options: ReviewOptions, part: (number: Int, count: Int)?, hasSelection: Bool) -> String {
        let many = options.advisors.count > 1
        var lines = [
            many
                ? "Review the draft below as each of the advisors \(options.advisors.map(\.id).joined(separator: ", "))."
                : "Review the draft below."
        ]
        if let part {
            lines.append(
                "It is part \(part.number) of \(part.count) of a longer draft: do not remark on what may stand elsewhere."
            )
        }
        if hasSelection { lines.append("Remark only on the selected part, which is repeated after the draft.") }
        if let most = options.maxSuggestions {
            lines.append(
                "Give at most \(most) suggestion\(most == 1 ? "" : "s")\(many ? " for each advisor" : ""), "
                    + "those that matter most.")
        }
        if !options.categories.isEmpty {
            lines.append("Only these categories: \(options.categories.sorted().joined(separator: ", ")).")
        }
        lines.append(
            """

            Answer with one JSON object and nothing else: {"suggestions": [ … ]}. Each suggestion has:
            \(many ? "- advisor_id: the id of the advisor who says it\n" : "")\
            - quote: the words that it is about, copied from the draft letter for letter, on one line or over several
            - before: the three or four words that stand in front of the quote in the draft; empty at its beginning
            - replacement: what should stand instead of the quote, whole and ready to be put there; empty to remove it; \
            null where you have a remark but no wording. To add something, quote the words next to which it goes and \
            repeat them in the replacement
            - type: \(SuggestionType.allCases.map(\.rawValue).joined(separator: ", "))
            - category: \(categories(options).joined(separator: ", "))
            - priority: 1 for what matters most, to 5
            - confidence: from 0 to 1
            - reason: one or two sentences
            """)
        return lines.joined(separator: "\n")
    }

    static func schema(_ options: ReviewOptions) throws -> LLMSchema {
        let many = options.advisors.count > 1
        var properties: [(String, JSON)] = []
        if many { properties.append(("advisor_id", choice(options.advisors.map(\.id)))) }
        properties += [
            ("quote", ["type": "string"]), ("before", ["type": "string"]),
            ("replacement", ["type": ["string", "null"]]),
            ("type", choice(SuggestionType.allCases.map(\.rawValue))), ("category", choice(categories(options))),
            ("priority", ["type": "integer"]), ("confidence", ["type": "number"]), ("reason", ["type": "string"]),
        ]
        return try LLMSchema(name: "suggestions", json: list("suggestions", of: properties))
    }

    /// The schema of an object whose only member is a list of objects. Every member is required and no other allowed,
    /// as OpenAI's strict mode requires.
    static func list(_ name: String, of properties: [(String, JSON)]) -> String {
        object([(name, ["type": "array", "items": strict(properties)])])
    }

    static func object(_ properties: [(String, JSON)]) -> String { strict(properties).sent }

    static func strict(_ properties: [(String, JSON)]) -> JSON {
        [
            "type": "object", "properties": .object(properties),
            "required": .array(properties.map { .string($0.0) }), "additionalProperties": false,
        ]
    }

    static func choice(_ words: [String]) -> JSON {
        ["type": "string", "enum": .array(words.map(JSON.string))]
    }

    private static func categories(_ options: ReviewOptions) -> [String] {
        let known = SuggestionCategory.allCases.map(\.rawValue)
        return options.categories.isEmpty ? known : known.filter(options.categories.contains)
    }
}
