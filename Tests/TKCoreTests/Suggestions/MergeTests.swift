import TKCore
import TestSupport
import Testing

@Suite("Merging suggestions")
struct MergeTests {
    static let draft = DraftText("The system can be utilized to process data. It is very slow, and we like it.\n")

    static func suggestion(
        _ quote: String, _ replacement: String?, _ advisor: String, rule: String? = nil, category: String = "clarity",
        priority: Int = 2
    ) throws -> Suggestion {
        try AdvisorFixture.suggestion(
            quote, replacement, in: draft, advisor: advisor, rule: rule, category: category, priority: priority)
    }

    @Test("Suggestions with the same result are merged, and all their advisors are named")
    func same() throws {
        let all = [
            try Self.suggestion("very slow", "slow", "editor", priority: 3),
            try Self.suggestion("very ", "", "quick", rule: "weak-word", category: "style"),
            try Self.suggestion("is very slow", "is slow", "academic", priority: 1),
        ]
        let merged = SuggestionMerger.merge(all, of: Self.draft)
        let one = try #require(merged.first)
        #expect(merged.count == 1 && one.suggestion.advisorID == "academic" && one.suggestion.priority == 1)
        #expect(one.advisorIDs == ["academic", "editor", "quick"] && Set(one.ids) == Set(all.map(\.id)))
    }

    @Test("A quick pass finding yields to an advisor's about the same words and matter, and to no other")
    func quick() throws {
        let all = [
            try Self.suggestion("can be utilized", nil, "quick", rule: "passive"),
            try Self.suggestion("utilized", "used", "quick", rule: "wordy", category: "wordiness"),
            try Self.suggestion("can be utilized to process data", "processes data", "editor"),
        ]
        let merged = SuggestionMerger.merge(all, of: Self.draft)
        #expect(merged.map(\.suggestion.advisorID) == ["editor", "quick"])
        #expect(merged[0].others.map(\.rule) == ["passive"] && merged[1].suggestion.rule == "wordy")
    }

    @Test("Advisors on the same words form a discussion: in agreement or in conflict")
    func threads() throws {
        let all = [
            try Self.suggestion("utilized", "used", "editor"),
            try Self.suggestion("can be utilized", "is used", "academic"),
            try Self.suggestion("very slow", "slow", "editor"), try Self.suggestion("very slow", "slow", "academic"),
            try Self.suggestion("we like it", "we love it", "editor"),
            try Self.suggestion("like", "adore", "quick", rule: "weak-word"),
        ]
        let threads = SuggestionMerger.threads(SuggestionMerger.merge(all, of: Self.draft), of: Self.draft)
        #expect(threads.map(\.anchor.exact) == ["can be utilized", "very slow"])
        #expect(threads.map(\.verdict) == [.conflict, .agreement])
        #expect(threads[0].participants.map(\.advisorID) == ["academic", "editor"])
        #expect(Set(threads[1].participants.map(\.advisorID)) == ["editor", "academic"])
        let later = SuggestionMerger.threads(SuggestionMerger.merge(all.reversed(), of: Self.draft), of: Self.draft)
        #expect(later == threads)
    }
}
