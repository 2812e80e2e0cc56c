import Ledger
import Platform
import Synchronization

/// A text of an intent that may be long: a whole note, a sidecar, a block. In the ledger a long one is named by its hash;
/// the text itself lies beside, once for all that name it, and goes when no step needs it any more
/// (docs/design/exactly-once.md).
package struct IntentText: Sendable, Equatable {
    /// What is longer is named, in bytes: below, a name with its row would be no shorter.
    static let limit = 512

    /// Nil for a short text.
    private let name: ContentHash?
    /// Nil where the ledger does not hold it any more.
    private let held: String?
    private let use: KeptText.Use

    /// - Parameters:
    ///   - text: what it is.
    ///   - isForUndo: whether undo needs it, and not only the step itself.
    ///   - isNamed: whether it is named however short it is, so that the intent does not tell it once the step is done.
    package init(_ text: String, isForUndo: Bool = false, isNamed: Bool = false) {
        name = isNamed || text.utf8.count > Self.limit ? ContentHash(of: text.utf8) : nil
        held = text
        use = isForUndo ? .undo : .perform
    }

    private init(name: ContentHash, held: String?, use: KeptText.Use) {
        self.name = name
        self.held = held
        self.use = use
    }

    /// Whether it is one that the ledger names.
    package var isLong: Bool { name != nil }

    /// Of its UTF-8, whether the text is there or not.
    package var hash: ContentHash { name ?? ContentHash(of: (held ?? "").utf8) }

    /// - Throws: `Fault(.failed)` where it is not kept any more: the step that needed it has been done.
    package func text() throws -> String {
        guard let held else {
            throw Fault(
                .failed, "the ledger no longer holds the text \(hash) that this was done with; nothing was changed")
        }
        return held
    }

    /// For a line that says what would be done.
    package var shown: String { held ?? "…" }

    /// One that was written whole has lost what it is for.
    package static func == (one: IntentText, other: IntentText) -> Bool { one.hash == other.hash }
}

extension IntentText: Codable {
    private enum CodingKeys: String, CodingKey {
        case text, use
    }

    package init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(text)
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(ContentHash.self, forKey: .text)
        let texts = NamedTexts.key.flatMap { decoder.userInfo[$0] as? NamedTexts }
        self.init(
            name: name, held: texts?[name],
            use: try container.decodeIfPresent(KeptText.Use.self, forKey: .use) ?? .perform
        )
    }

    package func encode(to encoder: any Encoder) throws {
        let texts = NamedTexts.key.flatMap { encoder.userInfo[$0] as? NamedTexts }
        if let held, name == nil || texts == nil {
            var container = encoder.singleValueContainer()
            return try container.encode(held)
        }
        if let held, let name { texts?.add(KeptText(hash: name, text: held, use: use)) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(hash, forKey: .text)
        if use != .perform { try container.encode(use, forKey: .use) }
    }
}

/// The texts that an intent names: gathered when it is encoded, looked up when it is decoded. An encoder without one
/// writes texts whole.
package final class NamedTexts: Sendable {
    /// Nil on no platform that there is; the standard library cannot know.
    static let key = CodingUserInfoKey(rawValue: "steward.texts")

    private let found = Mutex<[ContentHash: KeptText]>([:])
    private let known: [ContentHash: String]

    package init(_ known: [ContentHash: String] = [:]) { self.known = known }

    /// Those that were gathered, in no order.
    package var all: [KeptText] { found.withLock { Array($0.values) } }

    subscript(hash: ContentHash) -> String? { known[hash] }

    /// One that undo needs as well is kept for that.
    func add(_ text: KeptText) {
        found.withLock { found in
            if found[text.hash]?.use != .undo { found[text.hash] = text }
        }
    }
}
