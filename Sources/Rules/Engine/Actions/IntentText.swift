import Ledger
import Platform
import Synchronization

/// A text of an intent that may be long: a whole note, a sidecar, a block. The ledger stores a long text separately,
/// once per hash, and deletes it when no step needs it any more (docs/design/exactly-once.md).
package struct IntentText: Sendable, Equatable {
    /// Texts longer than this many bytes are stored by hash; for shorter ones that would save nothing.
    static let limit = 512

    /// nil for a short text.
    private let name: ContentHash?
    /// nil if the ledger does not hold it any more.
    private let held: String?
    private let use: KeptText.Use

    /// - Parameters:
    ///   - text: the text itself.
    ///   - isForUndo: whether undo needs it too, and not only the step itself.
    ///   - isNamed: whether to store even a short text by hash, so that it is not part of the intent once the step is
    ///     done.
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

    /// Whether it is stored by hash.
    package var isLong: Bool { name != nil }

    /// The hash of its UTF-8, available even if the text is not.
    package var hash: ContentHash { name ?? ContentHash(of: (held ?? "").utf8) }

    /// - Throws: `Fault(.failed)` if it is not kept any more because the step is done.
    package func text() throws -> String {
        guard let held else {
            throw Fault(
                .failed, "the ledger no longer holds the text \(hash) that this was done with; nothing was changed")
        }
        return held
    }

    /// For a line that describes what would be done.
    package var shown: String { held ?? "…" }

    /// Compares hashes only: `use` is lost when a text is stored in full.
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

/// The texts referenced by an intent: collected during encoding, looked up during decoding. Without it, an encoder
/// writes texts in full.
package final class NamedTexts: Sendable {
    /// Never nil in practice, but the initialiser is failable.
    static let key = CodingUserInfoKey(rawValue: "steward.texts")

    private let found = Mutex<[ContentHash: KeptText]>([:])
    private let known: [ContentHash: String]

    package init(_ known: [ContentHash: String] = [:]) { self.known = known }

    /// The collected texts, in no particular order.
    package var all: [KeptText] { found.withLock { Array($0.values) } }

    subscript(hash: ContentHash) -> String? { known[hash] }

    /// If undo needs the text as well, it is kept for undo.
    func add(_ text: KeptText) {
        found.withLock { found in
            if found[text.hash]?.use != .undo { found[text.hash] = text }
        }
    }
}
