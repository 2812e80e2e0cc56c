import Platform

/// Properties of a file that can change independently of its content, and that conditions look at
/// (docs/design/matching.md).
package enum FileAttribute: Hashable, Sendable {
    case owner, group, mode, links
    /// By full name: `user.xdg.tags`.
    case extended(String)

    /// Its name in the ledger.
    package var name: String {
        switch self {
        case .owner: "owner"
        case .group: "group"
        case .mode: "mode"
        case .links: "links"
        case .extended(let name): "xattr \(name)"
        }
    }

    /// A short fingerprint of the value: numbers as they are, a hash for extended attributes. Blocks.
    ///
    /// - Throws: `Fault` if the file has not been read, or cannot be.
    private func digest(_ facts: FileFacts) throws -> String {
        switch self {
        case .owner: return facts.status.map { String($0.owner) } ?? ""
        case .group: return facts.status.map { String($0.group) } ?? ""
        case .mode: return facts.status.map { String($0.mode, radix: 8) } ?? ""
        case .links: return facts.status.map { String($0.links) } ?? ""
        case .extended(let name): return Self.digest(try facts.attribute(name))
        }
    }

    private static func digest(_ value: [UInt8]?) -> String {
        value.map { String(ContentHash(of: $0).description.prefix(16)) } ?? "absent"
    }

    /// The digests of several attributes, by ``name``. Blocks.
    static func digests(_ attributes: Set<FileAttribute>, _ facts: FileFacts) throws -> [String: String] {
        var found: [String: String] = [:]
        for attribute in attributes { found[attribute.name] = try attribute.digest(facts) }
        return found
    }

    /// The digests of extended attributes with known values; nil for a removed one.
    package static func digests(_ values: [String: [UInt8]?]) -> [String: String] {
        var found: [String: String] = [:]
        for (name, value) in values { found[FileAttribute.extended(name).name] = digest(value) }
        return found
    }
}
