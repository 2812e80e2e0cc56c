import Ledger
import Platform

/// The condition that another file with the same content exists.
extension ConditionSpec {
    static let duplicateCondition = ConditionSpec(
        "duplicate-of",
        "Whether another file with the same content is there that counts as the original: `here` (in the file's own place), "
            + "`everywhere`, or names of places; one or a list. `{ in: …, original: … }` also says which of several counts: "
            + "`arrived-first` (the default: which of them had the content first), `shortest-path`, or `first-by-name`. Files "
            + "in places that are not named never count as originals. If the file's own place is not named, files in named "
            + "places always do. Files without a byte, other names of the same file (hard links) and files whose names are "
            + "hidden are no duplicates of anything.",
        example: "duplicate-of: { in: everywhere, original: arrived-first }",
        schema: [
            "oneOf": [
                oneOrMoreTexts,
                [
                    "type": "object", "additionalProperties": false, "required": ["in"],
                    "properties": [
                        "in": oneOrMoreTexts,
                        "original": ["enum": ["arrived-first", "shortest-path", "first-by-name"]],
                    ],
                ],
            ]
        ],
        provides: [
            ValueSpec("duplicate.path", "The whole path of the original."),
            ValueSpec("duplicate.name", "The original's name."),
            ValueSpec("duplicate.place", "The place of the original."),
        ]
    ) { node, context in
        var scopeNode = node
        var order = OriginalOrder.arrivedFirst
        if case .mapping = node.content {
            guard let mapping = context.reader.mapping(node, "`duplicate-of`", keys: ["in", "original"]) else {
                return nil
            }
            guard let scope = mapping["in"] else {
                context.reader.report(
                    node.position, "`duplicate-of` needs `in`", hint: "say `here`, `everywhere` or names of places")
                return nil
            }
            scopeNode = scope
            if let wanted = mapping["original"] {
                let words = OriginalOrder.allCases.map(\.rawValue)
                guard let word = context.reader.choice(wanted, "`original`", among: words),
                    let named = OriginalOrder(rawValue: word)
                else { return nil }
                order = named
            }
        }
        guard let scope = DuplicateScope(scopeNode, context) else { return nil }
        return Loaded { [order] facts, _ in try DuplicateSearch(facts, scope, order).observation() }
    }
}

/// Where the original may be.
private struct DuplicateScope: Sendable {
    private var isEverywhere = false
    private var isHere = false
    private var places: Set<String> = []

    init?(_ node: YamlNode, _ context: ConditionReader) {
        guard let words = context.texts(node, "duplicate-of") else { return nil }
        let known = context.places.map(\.name)
        for (item, word) in zip(context.reader.oneOrMore(node), words) {
            switch word {
            // A place may be called `here` or `everywhere`.
            case _ where known.contains(word): places.insert(word)
            case "here": isHere = true
            case "everywhere": isEverywhere = true
            default:
                let hint = Suggest.hint(for: word, among: known + ["here", "everywhere"])
                context.reader.reportLack(item.position, "unknown place `\(printable(word))`", hint: hint)
                return nil
            }
        }
    }

    func holds(_ place: String, own: String) -> Bool {
        isEverywhere || isHere && place == own || places.contains(place)
    }
}

/// Which of several files with the same content counts as the original: the first in this order. It is a total order,
/// so no two files are duplicates of each other.
private enum OriginalOrder: String, CaseIterable, Sendable {
    case arrivedFirst = "arrived-first"
    case shortestPath = "shortest-path"
    case firstByName = "first-by-name"

    struct Candidate {
        let place: String
        let path: BytePath
        /// The bytes of the absolute path.
        let absolute: [UInt8]
        let arrived: Int64
    }

    func isBefore(_ one: Candidate, _ other: Candidate) -> Bool {
        let (length, otherLength) = (one.absolute.count, other.absolute.count)
        switch self {
        case .arrivedFirst where one.arrived != other.arrived: return one.arrived < other.arrived
        case .firstByName where one.path.name != other.path.name:
            return one.path.name.lexicographicallyPrecedes(other.path.name)
        default: break
        }
        if length != otherLength { return length < otherLength }
        return one.absolute.lexicographicallyPrecedes(other.absolute)
    }
}

/// The search for other files with one file's content.
private struct DuplicateSearch {
    private let facts: FileFacts
    private let scope: DuplicateScope
    private let order: OriginalOrder

    init(_ facts: FileFacts, _ scope: DuplicateScope, _ order: OriginalOrder) {
        (self.facts, self.scope, self.order) = (facts, scope, order)
    }

    func observation() throws -> Observation {
        guard let status = facts.status else { return Observation(false, seen: "the file is gone") }
        guard status.size > 0 else { return Observation(false, seen: "it has no bytes") }
        guard let hash = try facts.contentHash(), let all = try facts.sameContents() else {
            return Observation(false, seen: "no regular file")
        }
        let around = try facts.around()
        let own = OriginalOrder.Candidate(
            place: facts.place.name, path: facts.path, absolute: facts.absolute.bytes,
            // A file that the ledger does not know yet comes last.
            arrived: all.filter { isOwn($0, status) && $0.hash == hash }.map(\.arrived).min() ?? .max)
        let ownCounts = scope.holds(facts.place.name, own: facts.place.name)
        let others = all.filter { !isOwn($0, status) && scope.holds($0.place, own: facts.place.name) }
            .compactMap { other -> (ContentPlace, OriginalOrder.Candidate)? in
                around.root(of: other.place).map { root in
                    (
                        other,
                        OriginalOrder.Candidate(
                            place: other.place, path: other.path, absolute: root.appending(other.path).bytes,
                            arrived: other.arrived)
                    )
                }
            }
            .filter { !ownCounts || order.isBefore($0.1, own) }
            .sorted { order.isBefore($0.1, $1.1) }
        for (other, candidate) in others {
            guard try around.holds(other, hash) else { continue }
            let path = BytePath(bytes: candidate.absolute)
            return Observation(
                true, seen: "the same as \(path)",
                values: [
                    "duplicate.path": .text(path.text), "duplicate.name": .text(path.nameText),
                    "duplicate.place": .text(other.place),
                ])
        }
        return Observation(false, seen: "no original with its content is known")
    }

    /// Whether it is the file itself, under this name or another.
    private func isOwn(_ other: ContentPlace, _ status: FileStatus) -> Bool {
        other.place == facts.place.name && other.path == facts.path
            || other.fingerprint.inode == status.inode && other.fingerprint.device == status.device
    }
}
