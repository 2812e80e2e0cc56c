/// A name as people compare it: a letter and its accent are equal as one character and as two. For finding names, never
/// for opening.
package enum ComparedName: Hashable, Sendable {
    /// Swift's `==` for strings compares canonically.
    case text(String)
    /// Not UTF-8, so equal only byte for byte.
    case bytes([UInt8])

    package init(_ name: some Collection<UInt8>) {
        self = String(validating: name, as: UTF8.self).map(Self.text) ?? .bytes(Array(name))
    }
}
