/// Finds points of different advisors about the same matter, and whether they agree.
///
/// Words that two points share show a common topic, not agreement. So points are grouped by the words of the draft that
/// they quote and by their aspect, and agreement follows from their stance.
package struct CouncilGrouping {
    /// Two points must share at least this many word stems, and this share of the shorter one's.
    private static let leastStems = 2
    private static let leastShare = 0.5

    package private(set) var consensus: [CouncilGroup] = []
    package private(set) var disagreements: [CouncilGroup] = []
    /// Points without a group yet, in the order of their ids.
    package private(set) var leftovers: [CouncilPoint]
    private let order: [String: Int]

    /// Groups by place and aspect.
    package init(_ points: [CouncilPoint]) {
        order = Dictionary(points.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        leftovers = points
        for aspect in CouncilAspect.allCases {
            for cluster in Self.overlapping(points.filter { $0.aspect == aspect && $0.anchor != nil }) {
                add(cluster, .place)
            }
        }
    }

    /// Clusters of points whose quotes all share some words: a long quote does not join the points at its two ends.
    private static func overlapping(_ points: [CouncilPoint]) -> [[CouncilPoint]] {
        var clusters: [(core: Range<Int>, points: [CouncilPoint])] = []
        let sorted = points.compactMap { point in point.anchor.map { ($0.range, point) } }
            .sorted { ($0.0.count, $0.0.lowerBound) < ($1.0.count, $1.0.lowerBound) }
        for (range, point) in sorted {
            if let index = clusters.firstIndex(where: { $0.core.overlaps(range) }) {
                clusters[index].core = clusters[index].core.clamped(to: range)
                clusters[index].points.append(point)
            } else {
                clusters.append((range, [point]))
            }
        }
        return clusters.map(\.points)
    }

    /// Takes points out of the leftovers if together they are a disagreement or a consensus; returns whether they are.
    @discardableResult
    private mutating func add(_ points: [CouncilPoint], _ ground: CouncilGroup.Ground) -> Bool {
        let free = points.filter { point in leftovers.contains { $0.id == point.id } }
            .sorted { (order[$0.id] ?? 0) < (order[$1.id] ?? 0) }
        let whole = CouncilGroup(points: free, ground: ground)
        let (good, bad) = (whole.advisors(.favourable), whole.advisors(.against))
        // An advisor who sees both sides disagrees with neither.
        if !good.isEmpty, !bad.isEmpty, Set(good + bad).count > 1 {
            let sides = CouncilGroup(points: free.filter { $0.stance != .neutral }, ground: ground)
            disagreements.append(sides)
            remove(sides)
            return true
        }
        var found = false
        for stance in CouncilStance.allCases {
            let side = CouncilGroup(points: free.filter { $0.stance == stance }, ground: ground)
            guard side.advisors(stance).count > 1 else { continue }
            consensus.append(side)
            remove(side)
            found = true
        }
        return found
    }

    private mutating func remove(_ group: CouncilGroup) {
        let ids = Set(group.points.map(\.id))
        leftovers.removeAll { ids.contains($0.id) }
    }

    // MARK: Leftovers

    /// Groups points as proposed by a model, which only gives ids. Groups with unknown ids, of a single advisor, or
    /// with a relation that contradicts the stances are rejected.
    ///
    /// - Returns: the number of rejected groups.
    mutating func add(_ groups: [CouncilSynthesis.Group]) -> Int {
        var refused = 0
        for group in groups {
            var seen: Set<String> = []
            let ids = group.points.filter { seen.insert($0).inserted }
            let points = leftovers.filter { ids.contains($0.id) }
            let stances = Set(points.map(\.stance))
            let agrees = stances.count == 1
            let opposes = stances == [.favourable, .against]
            let isSound = points.count == ids.count && (group.isOpposite ? opposes : agrees)
            if !isSound || !add(points, .model) { refused += 1 }
        }
        return refused
    }

    /// Groups points of one aspect with the same wording, and those that judge the same matter in opposite ways; used
    /// if no model is asked.
    package mutating func addByWording() {
        var index = 0
        while index < leftovers.count {
            let first = leftovers[index]
            let alike = leftovers[index...].filter { $0.id == first.id || belongs($0, with: first) }
            if !add(alike, .wording) { index += 1 }
        }
    }

    private func belongs(_ other: CouncilPoint, with first: CouncilPoint) -> Bool {
        guard other.aspect == first.aspect else { return false }
        let isWhole = first.anchor == nil && other.anchor == nil
        let (stems, others) = (WordStems.of(first.claim), WordStems.of(other.claim))
        let shared = stems.intersection(others).count
        let fewer = min(stems.count, others.count)
        guard other.stance == first.stance else {
            // About the draft as a whole, one advisor praises what another criticises.
            guard isWhole, first.stance != .neutral, other.stance != .neutral else { return false }
            let (matter, otherMatter) = (
                WordStems.matter(of: first.claim, first.aspect), WordStems.matter(of: other.claim, other.aspect)
            )
            let common = matter.intersection(otherMatter).count
            return matter.isEmpty && otherMatter.isEmpty
                || Double(common) > Self.leastShare * Double(min(matter.count, otherMatter.count)) && common > 0
        }
        // The same sentence is the same point, no matter how short, unless it is about different places.
        if first.anchor == nil || other.anchor == nil, PlainWords.of(first.claim) == PlainWords.of(other.claim) {
            return true
        }
        // For different words of the draft, more must be alike.
        let least = Self.leastStems + (first.anchor == nil || other.anchor == nil ? 0 : 1)
        return shared >= least && Double(shared) > Self.leastShare * Double(fewer)
    }
}

/// The words of a sentence that carry its meaning, without their endings.
enum WordStems {
    private static let empty: Set<String> = [
        "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
        "do",
        "does", "draft", "for", "from", "had", "has", "have", "here", "how", "i", "if", "in", "into", "is", "it", "its",
        "just", "may", "more", "most", "much", "of", "on", "one", "or", "out", "own", "reader", "should", "so", "some",
        "such", "text", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
        "too", "very", "was", "were", "what", "when", "where", "which", "while", "who", "will", "with", "would",
        "writer",
        "you", "your",
    ]
    private static let endings = [
        "ations", "ation", "nesses", "ness", "ments", "ment", "ingly", "edly", "ings", "ing", "ies", "ied", "ers", "er",
        "ed", "es", "ly", "s", "e", "y",
    ]

    /// Words of judgement, which do not name a matter.
    private static let judging: Set<String> = [
        "strong", "weak", "good", "bad", "great", "poor", "clear", "unclear", "vague", "convincing", "unconvincing",
        "persuasive", "effective", "ineffective", "excellent", "solid", "thin", "shaky", "sound", "fine", "well",
        "badly",
        "works", "work", "fails", "fail", "not", "no", "lacks", "lacking", "missing", "enough", "adequate",
        "inadequate",
        "sufficient", "insufficient", "consistent", "inconsistent", "coherent", "incoherent", "appropriate",
        "inappropriate", "engaging", "dull", "compelling", "fitting", "right", "wrong", "really", "quite", "rather",
        "overall", "remains", "feels", "seems", "whole", "needs", "need", "better", "never", "always",
    ]

    static func of(_ text: String) -> Set<String> { Set(PlainWords.of(text).filter { !empty.contains($0) }.map(stem)) }

    /// The stems of a claim's subject, without its aspect and its judgement.
    static func matter(of claim: String, _ aspect: CouncilAspect) -> Set<String> {
        let words = PlainWords.of(claim).filter { word in
            !empty.contains(word) && !judging.contains(word)
                && (CouncilAspect.closest(to: word) != aspect || aspect == .other && word != aspect.rawValue)
        }
        return Set(words.map(stem))
    }

    private static func stem(_ word: String) -> String {
        for ending in endings where word.hasSuffix(ending) && word.count - ending.count >= 3 {
            return String(word.dropLast(ending.count))
        }
        return word
    }
}
