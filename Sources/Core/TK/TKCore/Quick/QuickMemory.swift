import Synchronization

/// What the quick pass has read of a draft's latest version. A pass with a memory reads only the blocks that are not the
/// same there, and finds exactly what one without it finds.
///
/// Holds some ten bytes for each scalar of the draft.
package final class QuickMemory: Sendable {
    private let state = Mutex<QuickReading?>(nil)

    package init() {}

    var latest: QuickReading? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// A version of a draft, and each block as the quick pass has read it.
struct QuickReading: Sendable {
    /// What the reading of a block depends on, other than the text.
    struct Circumstances: Equatable, Sendable {
        var syntax: DraftSyntax
        var roles: [String]
        var longSentence: Int
        var statedLanguage: String?
        var usualLanguage: String
        var checksSpelling: Bool
        /// The region of the language whose spelling counts.
        var region: String?
    }

    let circumstances: Circumstances
    let draft: DraftText
    let mask: DraftMask
    /// In the order of the mask's blocks.
    let blocks: [BlockReading]
}

/// What the quick pass has found in one block. What it means is decided by all blocks together.
struct BlockReading: Sendable {
    var findings: [QuickScan.Finding] = []
    var narrative = NarrativeMeasure()
    var sentences = 0
    /// Sentences with a passive.
    var passives = 0
    var firstPassive: Range<Int>?
    /// Nil if spelling is not checked.
    var spelling: SpellingScan.Words?

    func shifted(by distance: Int) -> BlockReading {
        guard distance != 0 else { return self }
        var reading = self
        for index in findings.indices { reading.findings[index].shift(by: distance) }
        reading.firstPassive = firstPassive?.shifted(by: distance)
        reading.spelling?.shift(by: distance)
        return reading
    }
}

extension QuickScan.Finding {
    fileprivate mutating func shift(by distance: Int) {
        range = range.shifted(by: distance)
        phrase = phrase?.shifted(by: distance)
        identityEnd = identityEnd.map { $0 + distance }
    }
}

extension Range<Int> {
    func shifted(by distance: Int) -> Self { lowerBound + distance..<upperBound + distance }
}

/// The blocks of an earlier version that a later one still has: where text, mask and kinds are the same, before the first
/// change and after the last one.
struct KeptBlocks {
    private let earlier: QuickReading
    private let draft: DraftText
    /// The lengths of the equal beginning and of the equal end.
    private let head: Int
    private let tail: Int
    private let places: [DraftMask.Block: Int]

    /// - Returns: nil if nothing can be kept.
    init?(
        of earlier: QuickReading, in draft: DraftText, _ mask: DraftMask, _ circumstances: QuickReading.Circumstances
    ) {
        guard earlier.circumstances == circumstances else { return nil }
        (self.earlier, self.draft) = (earlier, draft)
        head = min(
            Self.head(earlier.draft.scalars, draft.scalars), Self.head(earlier.mask.scalars, mask.scalars),
            Self.head(earlier.mask.kinds, mask.kinds))
        tail = min(
            Self.tail(earlier.draft.scalars, draft.scalars), Self.tail(earlier.mask.scalars, mask.scalars),
            Self.tail(earlier.mask.kinds, mask.kinds))
        places = Dictionary(zip(earlier.mask.blocks, 0...)) { first, _ in first }
    }

    /// A block's earlier reading, at its present place; nil if it has to be read.
    func reading(of block: DraftMask.Block) -> BlockReading? {
        let reach = reach(of: block)
        let distance = draft.count - earlier.draft.count
        // The ends of the text are seen as well.
        if reach.upperBound <= head, reach.upperBound < draft.count || distance == 0 {
            return places[block].map { earlier.blocks[$0] }
        }
        guard reach.lowerBound >= draft.count - tail, reach.lowerBound > 0 || distance == 0 else { return nil }
        let former = DraftMask.Block(kind: block.kind, range: block.range.shifted(by: -distance))
        return places[former].map { earlier.blocks[$0].shifted(by: distance) }
    }

    /// What is looked at to read a block: its lines, and one scalar more on each side.
    private func reach(of block: DraftMask.Block) -> Range<Int> {
        let start = draft.range(ofLine: draft.line(at: block.range.lowerBound)).lowerBound
        let end = draft.range(ofLine: draft.line(at: block.range.upperBound - 1)).upperBound
        return max(0, start - 1)..<min(draft.count, end + 1)
    }

    private static func head<Element: Equatable>(_ one: [Element], _ other: [Element]) -> Int {
        let most = min(one.count, other.count)
        var length = 0
        while length < most, one[length] == other[length] { length += 1 }
        return length
    }

    private static func tail<Element: Equatable>(_ one: [Element], _ other: [Element]) -> Int {
        let most = min(one.count, other.count)
        var length = 0
        while length < most, one[one.count - 1 - length] == other[other.count - 1 - length] { length += 1 }
        return length
    }
}
