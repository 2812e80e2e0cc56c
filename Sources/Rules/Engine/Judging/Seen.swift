import Ledger
import Platform

/// What conditions looked at besides the file itself in one judgement. Kept for comparison with the next judgement,
/// and to detect changes before the commit.
struct Seen: Sendable {
    /// nil if no rule looks at attributes.
    private(set) var attributes: SeenAttributes?
    /// The files that have, or may have, the same content; nil if no condition asked.
    private var contents: [ContentPlace]?
    /// Whether that changed while the rules were being asked.
    private var isTorn = false

    /// - Parameter facts: the facts after the rules were asked. Blocks.
    mutating func add(_ facts: FileFacts, _ ruleSet: RuleSet) throws {
        if let asked = facts.askedContents {
            isTorn = isTorn || contents.map { $0 != asked } ?? false
            contents = asked
        }
        guard attributes == nil else { return }
        let looked = ruleSet.attributes(place: facts.place.name, name: facts.path.name)
        if !looked.isEmpty { attributes = SeenAttributes(digests: try FileAttribute.digests(looked, facts)) }
    }

    /// Whether the ledger still knows the same files with this content. Without this check, two identical files
    /// judged at the same time would both miss that they are duplicates.
    func isStill(_ record: FileRecord, in places: PlaceMap, _ transaction: LedgerTransaction) throws -> Bool {
        guard let contents, let hash = record.hash else { return true }
        return try !isTorn
            && PlaceSurroundings.contents(
                ofSize: record.fingerprint.size, hash, in: places, transaction) == contents
    }
}
