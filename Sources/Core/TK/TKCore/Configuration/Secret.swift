import Platform

/// A key, in memory that is excluded from core dumps, locked out of swap if the system allows it, and wiped when the
/// last reference is released.
///
/// Printing, reflecting or encoding never shows it: only ``reveal()`` does.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable,
    Encodable
{
    private let memory: SecretBytes

    /// Copies the key; the caller keeps the text.
    public init(_ text: String) { memory = SecretBytes(lockedWherePossible: text.utf8) }

    package init(_ bytes: [UInt8]) { memory = SecretBytes(lockedWherePossible: bytes) }

    /// The key itself, for the header of one request; its copies are outside this type's control.
    public func reveal() -> String { memory.withBytes { String(decoding: $0, as: UTF8.self) } }

    /// Whether the key is empty.
    public var isEmpty: Bool { memory.count == 0 }

    /// Never the key.
    public var description: String { Self.hidden }
    /// Never the key.
    public var debugDescription: String { Self.hidden }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }

    private static let hidden = "(hidden)"

    /// Encodes a placeholder, never the key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Self.hidden)
    }

    /// Constant-time, except for the length.
    public static func == (left: Secret, right: Secret) -> Bool { left.memory.matches(right.memory) }

    /// Hashes the length only: a hash of the key would leak information about it.
    public func hash(into hasher: inout Hasher) { hasher.combine(memory.count) }
}
