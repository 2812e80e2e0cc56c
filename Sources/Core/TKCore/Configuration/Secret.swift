import Glibc

/// A key, in memory that is kept out of core dumps, out of swap where the system allows it, and wiped when the last
/// reference goes.
///
/// Nothing that prints, reflects or encodes values shows it: only ``reveal()`` does.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable,
    Encodable
{
    private let memory: SecretMemory

    /// Copies the key; the text stays with the caller.
    public init(_ text: String) { memory = SecretMemory(Array(text.utf8)) }

    package init(_ bytes: [UInt8]) { memory = SecretMemory(bytes) }

    /// The key itself, for the header of one request; copies are out of this type's hands.
    public func reveal() -> String { memory.text }

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

/// The bytes of one ``Secret``, on pages of their own: locks and marks hold for whole pages, and do not nest.
private final class SecretMemory: Sendable, CustomReflectable {
    // Written only while the initialiser runs.
    nonisolated(unsafe) private let start: UnsafeMutableRawPointer
    let count: Int
    private let size: Int

    init(_ bytes: [UInt8]) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        count = bytes.count
        size = max(1, (count + page - 1) / page) * page
        start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: page)
        madvise(start, size, MADV_DONTDUMP)
        // Refused where the user's limit is used up; the key is of use all the same.
        mlock(start, size)
        start.copyMemory(from: bytes, byteCount: count)
    }

    deinit {
        explicit_bzero(start, count)
        munlock(start, size)
        madvise(start, size, MADV_DODUMP)
        start.deallocate()
    }

    var text: String { String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self) }

    var customMirror: Mirror { Mirror(self, children: [:]) }

    func matches(_ other: SecretMemory) -> Bool {
        guard count == other.count else { return false }
        let (one, two) = (
            UnsafeRawBufferPointer(start: start, count: count), UnsafeRawBufferPointer(start: other.start, count: count)
        )
        var difference: UInt8 = 0
        for index in 0..<count { difference |= one[index] ^ two[index] }
        return difference == 0
    }
}
