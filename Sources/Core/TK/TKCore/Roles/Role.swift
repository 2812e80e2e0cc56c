/// An advisor: somebody with a trade, a voice and an eye for certain things, whom a model plays
/// (docs/design/advisors.md, "Roles").
public struct Role: Codable, Sendable, Hashable, Identifiable {
    /// How the advisor would change a passage.
    public struct Example: Codable, Sendable, Hashable {
        /// As a writer might have put it.
        public var bad: String?
        /// As this advisor would put it.
        public var good: String?
        /// What the change does for a reader.
        public var why: String?

        /// An example; each part may be missing.
        public init(bad: String? = nil, good: String? = nil, why: String? = nil) {
            self.bad = bad
            self.good = good
            self.why = why
        }
    }

    /// `editor`; those of the user begin with ``customPrefix``.
    public var id: String
    /// For people: `Technical Writer`.
    public var name: String
    /// One emoji.
    public var icon: String
    /// `#RRGGBB`.
    public var color: String
    /// The field, in a few words.
    public var expertise: String
    /// One or two sentences for people who choose.
    public var description: String
    /// Who the advisor is, in the second person: the beginning of every prompt.
    public var voiceAndTone: String
    /// What the advisor looks for.
    public var focusAreas: [String]
    /// How the advisor gives advice.
    public var guidelines: [String]
    /// One change as the advisor would make it.
    public var example: Example?

    /// How the ids of a user's own advisors begin.
    public static let customPrefix = "custom_"

    /// Whether a user made it.
    public var isCustom: Bool { id.hasPrefix(Self.customPrefix) }

    /// A whole advisor.
    public init(
        id: String, name: String, icon: String, color: String, expertise: String, description: String,
        voiceAndTone: String, focusAreas: [String], guidelines: [String], example: Example? = nil
    ) {
        self.id = id
        self.name = name
        self.icon = icon
        self.color = color
        self.expertise = expertise
        self.description = description
        self.voiceAndTone = voiceAndTone
        self.focusAreas = focusAreas
        self.guidelines = guidelines
        self.example = example
    }
}

/// A kind of text, with the advisors that suit it and what its readers expect.
public struct StoryType: Codable, Sendable, Hashable, Identifiable {
    /// `brd_prd`.
    public var id: String
    /// For people: `BRD / PRD`.
    public var name: String
    /// One emoji.
    public var icon: String
    /// One sentence for people who choose.
    public var description: String
    /// Ids of built-in roles.
    public var defaultAdvisors: [String]
    /// What an advisor has to know of the genre; a section of the prompt.
    public var genreContext: String

    /// A whole story type.
    public init(
        id: String, name: String, icon: String, description: String, defaultAdvisors: [String], genreContext: String
    ) {
        self.id = id
        self.name = name
        self.icon = icon
        self.description = description
        self.defaultAdvisors = defaultAdvisors
        self.genreContext = genreContext
    }
}
