/// A suggestion with all its makers.
public struct MergedSuggestion: Codable, Sendable, Hashable, Identifiable {
    /// The one that is shown and applied.
    public var suggestion: Suggestion
    /// Equivalent ones, each with its own words, reason and id: an answer to one answers all.
    public var others: [Suggestion]

    /// The id of the shown one.
    public var id: String { suggestion.id }
    /// The makers, starting with the shown one's.
    public var advisorIDs: [String] {
        var seen: Set<String> = []
        return ([suggestion] + others).map(\.advisorID).filter { seen.insert($0).inserted }
    }
    /// All ids, starting with the shown one's.
    public var ids: [String] { [suggestion.id] + others.map(\.id) }

    /// A suggestion that others may join.
    public init(suggestion: Suggestion, others: [Suggestion] = []) {
        self.suggestion = suggestion
        self.others = others
    }
}

/// Suggestions of several advisors about the same words (docs/design/advisors.md, "What is believed").
public struct DiscussionThread: Codable, Sendable, Hashable, Identifiable {
    /// An advisor and its proposals there.
    public struct Participant: Codable, Sendable, Hashable {
        /// The advisor.
        public var advisorID: String
        /// In text order.
        public var suggestions: [Suggestion]
    }

    /// The outcome of the discussion.
    public enum Verdict: String, Codable, Sendable {
        /// All proposals are compatible, or equivalent.
        case agreement
        /// Two advisors propose different words for the same place.
        case conflict
    }

    /// Stable as long as its suggestions are the same.
    public var id: String
    /// From the first word concerned to the last.
    public var anchor: TextAnchor
    /// In the order of their places in the text.
    public var participants: [Participant]
    /// Whether they contradict each other.
    public var verdict: Verdict
}

/// Merges the findings of several passes and advisors about one draft.
public enum SuggestionMerger {
    /// Merges equivalent suggestions and keeps their makers: those that leave the same text, and those of the quick
    /// pass that share their words and their category with an advisor's. By position.
    ///
    /// - Parameter suggestions: all about the current `draft`.
    public static func merge(_ suggestions: [Suggestion], of draft: DraftText) -> [MergedSuggestion] {
        // An advisor's words take precedence over the quick pass's, the more important over the less. What others have
        // added comes last, in the given order, so that it does not displace a finding that is shown already.
        let ranked = suggestions.enumerated().sorted { first, second in
            let (one, other) = (first.element, second.element)
            if rank(one) != rank(other) { return rank(one) < rank(other) }
            if one.origin != nil { return first.offset < second.offset }
            if one.hasReplacement != other.hasReplacement { return one.hasReplacement }
            return SuggestionOrder.byImportance(one, other)
        }.map(\.element)
        var merged: [MergedSuggestion] = []
        // By regions of the text, so that each suggestion is compared only with its neighbours.
        var nearby: [Int: [Int]] = [:]
        for suggestion in ranked {
            let range = suggestion.anchor.range.clamped(to: 0..<draft.count)
            let stretches = range.lowerBound / stretch...range.upperBound / stretch
            let candidates = Set(stretches.flatMap { nearby[$0] ?? [] }).sorted()
            let same = candidates.first { index in
                comesToTheSame(merged[index].suggestion, suggestion, draft)
                    || ([merged[index].suggestion] + merged[index].others).contains { $0.repeats(suggestion) }
            }
            if let index = same {
                merged[index].others.append(suggestion)
                merged[index].suggestion.priority = min(merged[index].suggestion.priority, suggestion.priority)
            } else {
                for stretch in stretches { nearby[stretch, default: []].append(merged.count) }
                merged.append(MergedSuggestion(suggestion: suggestion))
            }
        }
        return merged.sorted { SuggestionOrder.byPosition($0.suggestion, $1.suggestion) }
    }

    private static func rank(_ suggestion: Suggestion) -> Int {
        suggestion.origin != nil ? 2 : suggestion.rule != nil ? 1 : 0
    }

    private static let stretch = 1_024

    /// The places where several advisors comment on the same words. The quick pass does not take part in discussions.
    public static func threads(_ merged: [MergedSuggestion], of draft: DraftText) -> [DiscussionThread] {
        let all = merged.flatMap { [$0.suggestion] + $0.others }.filter { $0.rule == nil }
            .sorted(by: SuggestionOrder.byPosition)
        var groups: [(range: Range<Int>, members: [Suggestion])] = []
        for suggestion in all {
            let range = suggestion.anchor.range
            if let last = groups.last, last.range.overlaps(range) {
                groups[groups.count - 1].members.append(suggestion)
                groups[groups.count - 1].range =
                    last.range.lowerBound..<max(last.range.upperBound, range.upperBound)
            } else {
                groups.append((range, [suggestion]))
            }
        }
        return groups.compactMap { thread($0.members, $0.range, draft) }
    }

    private static func thread(
        _ members: [Suggestion], _ range: Range<Int>, _ draft: DraftText
    ) -> DiscussionThread? {
        var participants: [DiscussionThread.Participant] = []
        for suggestion in members {
            if let index = participants.firstIndex(where: { $0.advisorID == suggestion.advisorID }) {
                participants[index].suggestions.append(suggestion)
            } else {
                participants.append(.init(advisorID: suggestion.advisorID, suggestions: [suggestion]))
            }
        }
        guard participants.count > 1 else { return nil }
        let isConflict = members.enumerated().contains { index, one in
            members[(index + 1)...].contains { other in
                one.advisorID != other.advisorID && one.hasReplacement && other.hasReplacement
                    && one.anchor.range.overlaps(other.anchor.range) && !leavesTheSame(one, other, draft)
            }
        }
        let anchor = draft.anchor(of: range)
        let id = FindingIdentity.id(
            maker: members.map(\.id).sorted().joined(separator: " "), quote: anchor.exact, before: anchor.prefix,
            after: anchor.suffix)
        return DiscussionThread(
            id: id, anchor: anchor, participants: participants, verdict: isConflict ? .conflict : .agreement)
    }

    private static func comesToTheSame(_ one: Suggestion, _ other: Suggestion, _ draft: DraftText) -> Bool {
        guard one.anchor.range.overlaps(other.anchor.range) else { return false }
        if one.hasReplacement, other.hasReplacement, leavesTheSame(one, other, draft) { return true }
        // The words of another reviewer are never left out.
        guard one.origin == nil, other.origin == nil else { return false }
        let isHint = (one.rule == nil) != (other.rule == nil)
        // Two house rules say two things, even about the same words.
        let isSameMaker =
            one.advisorID == other.advisorID && (one.rule == other.rule || one.advisorID != Suggestion.styles)
        let isRemark = !one.hasReplacement && !other.hasReplacement && isSameMaker
        return (isHint || isRemark) && one.category == other.category
    }

    /// Whether two edits, each applied alone, leave the same text, except for white space, quotation marks and dashes.
    package static func leavesTheSame(_ one: Suggestion, _ other: Suggestion, _ draft: DraftText) -> Bool {
        let start = min(one.anchor.start, other.anchor.start)
        let end = max(one.anchor.end, other.anchor.end)
        func after(_ edit: Suggestion) -> ArraySlice<Unicode.Scalar> {
            let text = draft[start..<edit.anchor.start] + edit.suggestedText + draft[edit.anchor.end..<end]
            return NormalisedText(text.unicodeScalars).trimmed
        }
        return after(one) == after(other)
    }
}
