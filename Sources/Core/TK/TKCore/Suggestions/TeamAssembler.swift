import Platform

/// The advisors for a text, and why.
public struct AdvisorTeam: Codable, Sendable, Hashable {
    /// How they were chosen.
    public enum Source: String, Codable, Sendable {
        /// A model chose.
        case model
        /// Keywords of the description.
        case keywords
    }

    /// 1 to 10 ids of existing advisors, most important first.
    public var advisors: [String]
    /// By advisor, for a person; not for all.
    public var reasons: [String: String]
    /// The kind of text, if known.
    public var storyType: String?
    /// How they were chosen.
    public var source: Source
    /// Messages for a person, a sentence each.
    public var notices: [String]
    /// The calls that were made.
    public var calls: [CallSummary]
}

/// Assembles a team of advisors for a description such as “a launch post for a database”
/// (docs/design/advisors.md, "Roles").
public struct TeamAssembler: Sendable {
    /// The number of advisors in a team.
    public static let size = 1...10

    /// All advisors and story types.
    public let catalogue: RoleCatalogue
    /// Nil: the description's keywords decide.
    public let model: ModelAccess?
    /// Builds the prompts.
    public let prompts: PromptEngine

    /// Without a model, keywords decide.
    public init(catalogue: RoleCatalogue, prompts: PromptEngine, model: ModelAccess? = nil) {
        (self.catalogue, self.prompts, self.model) = (catalogue, prompts, model)
    }

    /// Always returns a team: if the model fails or names no existing advisor, the description's keywords decide, and a
    /// notice says why.
    ///
    /// - Throws: `Fault` (`.usage`) for an empty description, errors from the recorder, `CancellationError`.
    public func assemble(_ description: String) async throws -> AdvisorTeam {
        guard description.contains(where: { !$0.isWhitespace }) else {
            throw Fault(.usage, "the description is empty; describe the text like \"a launch post for a database\"")
        }
        var team = byKeywords(description)
        guard let model else { return team }
        do {
            let request = try request(description, model)
            let response = try await model.answer(.team, advisors: [], request)
            team.calls = [CallSummary(response)]
            if response.isRefused {
                team.notices.append("the model declined to choose advisors; the description's words decided")
            } else if let chosen = read(response) {
                return AdvisorTeam(
                    advisors: chosen.advisors, reasons: chosen.reasons, storyType: chosen.storyType ?? team.storyType,
                    source: .model, notices: chosen.notices, calls: team.calls)
            } else {
                team.notices.append("the model named no advisor that there is; the description's words decided")
            }
        } catch let error as LLMError {
            team.notices.append("no model could choose advisors, so the description's words decided: \(error.message)")
        }
        return team
    }

    /// The call that ``assemble(_:)`` will make, for a cost estimate; empty without a model.
    public func plan(_ description: String) throws -> CallPlan {
        guard let model else { return CallPlan([]) }
        return CallPlan([model.plan(.team, advisors: [], try request(description, model))])
    }

    // MARK: A model's choice

    private struct Item: Decodable, Sendable, Hashable {
        var id: String
        var reason: String

        init(from decoder: any Decoder) throws {
            if let id = try? decoder.singleValueContainer().decode(String.self) {
                self.id = id
                reason = ""
                return
            }
            let members = try LooseMembers(decoder)
            id = try members.required(members.text("id", "advisor_id", "role", "name"), "id")
            reason = members.text("reason", "why", "reasoning") ?? ""
        }
    }

    private struct Kind: Decodable, Sendable {
        var id: String

        init(from decoder: any Decoder) throws {
            let members = try LooseMembers(decoder)
            id = try members.required(members.text("story_type", "storyType"), "story type")
        }
    }

    private func request(_ description: String, _ model: ModelAccess) throws -> LLMRequest {
        let roles = catalogue.roles.map { "- \($0.id): \($0.name). \($0.description)" }.joined(separator: "\n")
        let types = catalogue.storyTypes.map { "- \($0.id): \($0.description)" }.joined(separator: "\n")
        let task = """
            A writer describes a text. Choose the advisors who will help with it most, the most important first: two to \
            four for most texts, never more than \(Self.size.upperBound). Choose the story type that fits, if one does.

            ADVISORS:
            \(roles)

            STORY TYPES:
            \(types)

            Answer with one JSON object and nothing else: {"advisors": [{"id": …, "reason": one sentence}], "story_type": \
            an id or null}.
            """
        let advisor: [(String, JSON)] = [
            ("id", SuggestionPrompt.choice(catalogue.roles.map(\.id))), ("reason", ["type": "string"]),
        ]
        let schema = SuggestionPrompt.object([
            ("advisors", ["type": "array", "items": SuggestionPrompt.strict(advisor)]),
            ("story_type", ["type": ["string", "null"]]),
        ])
        return LLMRequest(
            system: "You put together teams of advisors for writers.",
            user: prompts.userMessage(task: task, texts: [(label: "description", text: description)]),
            maxTokens: min(model.maxOutputTokens, 1_024), schema: try LLMSchema(name: "team", json: schema))
    }

    private func read(
        _ response: LLMResponse
    ) -> (advisors: [String], reasons: [String: String], storyType: String?, notices: [String])? {
        let items = JSONSalvage.items(Item.self, key: "advisors", from: response.text)?.value.elements ?? []
        var advisors: [String] = []
        var reasons: [String: String] = [:]
        var unknown = 0
        for item in items {
            let word = item.id.lowercased()
            guard
                let role = catalogue.roles.first(where: { $0.id.lowercased() == word || $0.name.lowercased() == word })
            else {
                unknown += 1
                continue
            }
            guard !advisors.contains(role.id), advisors.count < Self.size.upperBound else { continue }
            advisors.append(role.id)
            if !item.reason.isEmpty { reasons[role.id] = FindingResolver.printable(item.reason) }
        }
        guard !advisors.isEmpty else { return nil }
        let kind = JSONSalvage.decode(Kind.self, from: response.text)?.value.id
        let notices =
            unknown > 0 ? ["the model named \(unknown) advisor\(unknown == 1 ? "" : "s") that there is not"] : []
        return (advisors, reasons, catalogue.storyTypes.first { $0.id == kind }?.id, notices)
    }

    // MARK: Keywords

    /// The team for the description's keywords: that of a story type they name, and advisors they name.
    public func byKeywords(_ description: String) -> AdvisorTeam {
        let known = Set(catalogue.roles.map(\.id))
        let kind = KeywordScore.scores(description, Self.storyTypeWords).first { scored in
            catalogue.storyTypes.contains { $0.id == scored.name }
        }
        let storyType = kind.flatMap { kind in catalogue.storyTypes.first { $0.id == kind.name } }
        var advisors = storyType?.defaultAdvisors ?? []
        advisors += KeywordScore.scores(description, Self.roleWords).map(\.name)
        var seen: Set<String> = []
        advisors = advisors.filter { known.contains($0) && seen.insert($0).inserted }
        if advisors.isEmpty { advisors = ["general", "editor"].filter(known.contains) }
        if advisors.isEmpty { advisors = catalogue.roles.prefix(1).map(\.id) }
        return AdvisorTeam(
            advisors: Array(advisors.prefix(4)), reasons: [:], storyType: storyType?.id, source: .keywords, notices: [],
            calls: [])
    }

    private static let storyTypeWords: [String: [String]] = [
        "blog_personal": ["blog", "journal", "diary", "travel", "essay", "reflection", "my life", "personal blog"],
        "blog_professional": [
            "blog", "linkedin", "newsletter", "opinion", "column", "company blog", "blog post", "post",
        ],
        "brd_prd": [
            "prd", "brd", "requirement", "feature", "user story", "user stories", "acceptance criteria", "roadmap",
            "spec",
        ],
        "creative_fiction": [
            "story", "novel", "fiction", "chapter", "poem", "scene", "character", "short story", "dialogue",
        ],
        "biography": ["biograph", "memoir", "obituary", "autobiograph", "profile", "life of"],
        "academic_paper": [
            "thesis", "dissertation", "abstract", "research", "journal article", "academic", "citation", "study",
        ],
        "marketing_copy": [
            "marketing", "landing", "advert", "campaign", "slogan", "launch", "sales", "landing page", "tagline",
            "product page",
        ],
        "technical_docs": [
            "documentation", "api", "readme", "manual", "tutorial", "install", "reference", "guide", "changelog",
            "runbook",
        ],
        "email_memo": ["email", "e-mail", "mail", "memo", "announcement", "letter", "message"],
    ]

    private static let roleWords: [String: [String]] = [
        "technical_writer": ["technical", "api", "documentation", "software", "developer", "code"],
        "editor": ["grammar", "edit", "proofread", "style", "typo"],
        "creative_writer": ["creative", "story", "novel", "poem", "narrative", "fiction"],
        "ux_writer": ["ux", "interface", "button", "onboarding", "app", "user experience", "error message"],
        "product_executive": ["product", "strategy", "executive", "roadmap", "investor", "market"],
        "business_analyst": ["business", "requirement", "process", "stakeholder", "analysis"],
        "recent_graduate": ["beginner", "newcomer", "student", "graduate", "novice", "simple"],
        "academic": ["academic", "research", "paper", "thesis", "citation", "argument"],
        "data_scientist": ["data", "statistic", "experiment", "chart", "metric", "model", "benchmark"],
        "copywriter": ["copy", "marketing", "advert", "slogan", "headline", "campaign", "launch", "sales"],
    ]
}
