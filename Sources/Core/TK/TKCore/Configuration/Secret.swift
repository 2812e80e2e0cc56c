import Platform

/// A key, in memory that is kept out of core dumps, out of swap where the system allows it, and wiped when the last
/// reference goes.
///
/// Nothing that prints, reflects or encodes values shows it: only ``reveal()`` does.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable,
    Encodable
{
    private let memory: SecretBytes

    /// Copies the key; the text stays with the caller.
    public init(_ text: String) { memory = SecretBytes(lockedWherePossible: text.utf8) }

    package init(_ bytes: [UInt8]) { memory = SecretBytes(lockedWherePossible: bytes) }

    /// The key itself, for the header of one request; copies are out of this type's hands.
    public func reveal() -> String { memory.withBytes { String(decoding: $0, as: UTF8.self) } }

    /// Whether there is no key in it.
    public var isEmpty: Bool { memory.count == 0 }

    /// Never the key.
    public var description: String { Self.hidden }
    /// Never the key.
    public var debugDescription: String { Self.hidden }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }

    private static let hidden = "(hidden)"

    /// Encodes a word that says that something is hidden, never the key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Self.hidden)
    }

    /// Tells nothing by the time it takes, but for the length.
    public static func == (left: Secret, right: Secret) -> Bool { left.memory.matches(right.memory) }

    /// By the length alone: a hash of the key would be a trace of it.
    public func hash(into hasher: inout Hasher) { hasher.combine(memory.count) }
}
