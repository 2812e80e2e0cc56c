import Platform

/// What may change of a file while its content stays what it is, and what conditions look at by itself
/// (docs/design/matching.md).
package enum FileAttribute: Hashable, Sendable {
    case owner, group, mode, links
    /// By its whole name: `user.xdg.tags`.
    case extended(String)

    /// As the ledger calls it.
    package var name: String {
        switch self {
        case .owner: "owner"
        case .group: "group"
        case .mode: "mode"
        case .links: "links"
        case .extended(let name): "xattr \(name)"
        }
    }

    /// What tells one value from another, short: numbers as they are, extended attributes by a hash. Blocks.
    ///
    /// - Throws: `Fault` where the file has not been read, or cannot be.
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

    /// The digests of several, by ``name``. Blocks.
    static func digests(_ attributes: Set<FileAttribute>, _ facts: FileFacts) throws -> [String: String] {
        var found: [String: String] = [:]
        for attribute in attributes { found[attribute.name] = try attribute.digest(facts) }
        return found
    }

    /// The same of extended attributes whose values are known; nil for one that was removed.
    package static func digests(_ values: [String: [UInt8]?]) -> [String: String] {
        var found: [String: String] = [:]
        for (name, value) in values { found[FileAttribute.extended(name).name] = digest(value) }
        return found
    }
}
