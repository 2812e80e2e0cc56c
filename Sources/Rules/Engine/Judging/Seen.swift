import Ledger
import Platform

/// What conditions have looked at beside the file itself, at one judgement of it: for the next one to compare with, and to
/// tell whether any of it has changed before the judgement was committed.
struct Seen: Sendable {
    /// Nil where no rule looks at any.
    private(set) var attributes: SeenAttributes?
    /// The files that have, or may have, its content; nil where no condition has asked.
    private var contents: [ContentPlace]?
    /// Whether that changed while rules were asked.
    private var isTorn = false

    /// - Parameter facts: after the rules were asked. Blocks.
    mutating func add(_ facts: FileFacts, _ ruleSet: RuleSet) throws {
        if let asked = facts.askedContents {
            isTorn = isTorn || contents.map { $0 != asked } ?? false
            contents = asked
        }
        guard attributes == nil else { return }
        let looked = ruleSet.attributes(place: facts.place.name, name: facts.path.name)
        if !looked.isEmpty { attributes = SeenAttributes(digests: try FileAttribute.digests(looked, facts)) }
    }

    /// Whether the ledger still knows the same of other files: of two with one content that are judged at the same time
    /// neither would be the other's duplicate.
    func isStill(_ record: FileRecord, in places: PlaceMap, _ transaction: LedgerTransaction) throws -> Bool {
        guard let contents, let hash = record.hash else { return true }
        return try !isTorn
            && PlaceSurroundings.contents(
                ofSize: record.fingerprint.size, hash, in: places, transaction) == contents
    }
}
