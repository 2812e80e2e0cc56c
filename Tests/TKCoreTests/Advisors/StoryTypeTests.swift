import Platform
import TKCore
import Testing

@Suite("Story types")
struct StoryTypeTests {
    private let catalogue: RoleCatalogue

    init() throws { catalogue = try RoleCatalogue.load(TKResources.locate()) }

    /// The expected entries: type, default advisors, words that the genre context must mention.
    private static let table: [(id: String, name: String, advisors: [String], words: [String])] = [
        (
            "blog_personal", "Blog (Personal)", ["creative_writer", "editor"],
            ["Authentic voice", "Narrative flow", "Emotional resonance"]
        ),
        (
            "blog_professional", "Blog (Professional)", ["technical_writer", "ux_writer", "editor"],
            ["Credibility", "Argumentation", "Scannability"]
        ),
        (
            "brd_prd", "BRD / PRD", ["product_executive", "business_analyst", "recent_graduate"],
            ["Requirements completeness", "Acceptance criteria", "Gap identification"]
        ),
        (
            "creative_fiction", "Creative Fiction", ["creative_writer", "editor"],
            ["Show, don't tell", "Sensory detail", "Character voice", "Pacing"]
        ),
        (
            "biography", "Biography", ["creative_writer", "academic", "editor"],
            ["Narrative arc", "Factual accuracy", "Chronological clarity"]
        ),
        (
            "academic_paper", "Academic Paper", ["academic", "editor", "data_scientist"],
            ["Argument structure", "Evidence", "Methodology", "Hedging"]
        ),
        (
            "marketing_copy", "Marketing Copy", ["copywriter", "ux_writer", "editor"],
            ["Headline impact", "Benefits", "Calls to action", "Social proof"]
        ),
        (
            "technical_docs", "Technical Docs", ["technical_writer", "editor", "recent_graduate"],
            ["Accuracy", "Completeness", "Scannability", "Code examples"]
        ),
        ("email_memo", "Email / Memo", ["ux_writer", "editor"], ["Clarity", "Tone", "Action items", "Brevity"]),
    ]

    @Test("There are nine, with their advisors and a description of the genre")
    func table() throws {
        #expect(catalogue.storyTypes.map(\.id) == Self.table.map(\.id))
        for row in Self.table {
            let type = try catalogue.storyType(row.id)
            #expect(type.name == row.name)
            #expect(type.defaultAdvisors == row.advisors)
            for word in row.words { #expect(type.genreContext.contains(word), "\(row.id): \(word)") }
            #expect(try catalogue.roles(type.defaultAdvisors).count == row.advisors.count)
            #expect(type.icon.unicodeScalars.first?.properties.isEmoji == true)
        }
    }

    @Test("An unknown one is rejected with a suggestion")
    func unknown() {
        let fault = #expect(throws: Fault.self) { try catalogue.storyType("blog-persnal") }
        #expect(fault?.message.contains("did you mean `blog_personal`?") == true)
        let part = #expect(throws: Fault.self) { try catalogue.storyType("blog") }
        #expect(part?.message.contains("`blog_personal` or `blog_professional`") == true)
    }
}
