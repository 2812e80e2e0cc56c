/// An advisor: a persona with a trade, a voice and a focus, played by a model (docs/design/advisors.md, "Roles").
public struct Role: Codable, Sendable, Hashable, Identifiable {
    /// How the advisor would change a passage.
    public struct Example: Codable, Sendable, Hashable {
        /// A writer's version.
        public var bad: String?
        /// The advisor's version.
        public var good: String?
        /// The effect of the change on a reader.
        public var why: String?

        /// An example; each part may be missing.
        public init(bad: String? = nil, good: String? = nil, why: String? = nil) {
            (self.bad, self.good, self.why) = (bad, good, why)
        }
    }

    /// `editor`; users' own ids begin with ``customPrefix``.
    public var id: String
    /// For display: `Technical Writer`.
    public var name: String
    /// One emoji.
    public var icon: String
    /// `#RRGGBB`.
    public var color: String
    /// The field, in a few words.
    public var expertise: String
    /// One or two sentences, to help people choose.
    public var description: String
    /// The advisor's persona, in the second person: the beginning of every prompt.
    public var voiceAndTone: String
    /// The advisor's focus areas.
    public var focusAreas: [String]
    /// How the advisor gives advice.
    public var guidelines: [String]
    /// An example of the advisor's changes.
    public var example: Example?

    /// The prefix of ids of a user's own advisors.
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

/// A kind of text, with suitable advisors and its readers' expectations.
public struct StoryType: Codable, Sendable, Hashable, Identifiable {
    /// `brd_prd`.
    public var id: String
    /// For display: `BRD / PRD`.
    public var name: String
    /// One emoji.
    public var icon: String
    /// One sentence, to help people choose.
    public var description: String
    /// Ids of built-in roles.
    public var defaultAdvisors: [String]
    /// Background on the genre for an advisor; a section of the prompt.
    public var genreContext: String

    /// A whole story type.
    public init(
        id: String, name: String, icon: String, description: String, defaultAdvisors: [String], genreContext: String
    ) {
        (self.id, self.name, self.icon) = (id, name, icon)
        (self.description, self.defaultAdvisors, self.genreContext) = (description, defaultAdvisors, genreContext)
    }
}
