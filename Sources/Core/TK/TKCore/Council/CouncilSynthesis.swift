import Platform

/// Asks a model which of the remaining points belong together. It answers with ids only, without any text of its own.
enum CouncilSynthesis {
    struct Group: Decodable, Sendable, Hashable {
        var points: [String]
        var isOpposite: Bool

        init(from decoder: any Decoder) throws {
            let members = try LooseMembers(decoder)
            points = try members.required(members.texts("points", "ids"), "points") { $0.count > 1 }
            isOpposite = members.text("relation", "type")?.lowercased().hasPrefix("opp") ?? false
        }
    }

    static func request(_ points: [CouncilPoint], prompts: PromptEngine, maxTokens: Int) throws -> LLMRequest {
        let task = """
            Several advisors have made points about a draft; they stand below, one a line: id, advisor, aspect, stance, \
            claim. Find those that make the same point in different words, and those that contradict each other about the \
            same matter. The same topic is not yet the same point. Most points may belong to no group.

            Answer with one JSON object and nothing else: {"groups": [{"points": [ids], "relation": "same" or \
            "opposite"}]}. Use the ids as they stand; a point is in one group at most; a group has points of at least two \
            advisors.
            """
        let lines = points.map { point in
            "\(point.id) | \(point.advisorID) | \(point.aspect.rawValue) | \(sign(point.stance)) | "
                + point.claim.split(whereSeparator: \.isNewline).joined(separator: " ")
        }
        let group: [(String, JSON)] = [
            ("points", ["type": "array", "items": SuggestionPrompt.choice(points.map(\.id))]),
            ("relation", SuggestionPrompt.choice(["same", "opposite"])),
        ]
        return LLMRequest(
            system: "You compare statements exactly and add nothing to them.",
            user: prompts.userMessage(task: task, texts: [(label: "points", text: lines.joined(separator: "\n"))]),
            maxTokens: maxTokens,
            schema: try LLMSchema(name: "groups", json: SuggestionPrompt.list("groups", of: group)))
    }

    private static func sign(_ stance: CouncilStance) -> String {
        switch stance {
        case .favourable: "+"
        case .against: "-"
        case .neutral: "0"
        }
    }
}
