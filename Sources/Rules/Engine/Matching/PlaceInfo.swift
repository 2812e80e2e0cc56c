import Platform

/// The purpose of a place; determines defaults of rules.
package enum PlaceKind: String, Sendable, Codable, CaseIterable {
    /// The A4 vault.
    case notes
    case drafts
    /// The comics inbox, whose files are moved on.
    case inbox
    case dropbox
    case folder

    /// Whether files here are meant to move on: the first start processes existing ones, and refused ones are
    /// quarantined.
    package var isIncoming: Bool { self == .inbox || self == .dropbox }
}

/// A configured place as rules see it.
package struct PlaceInfo: Sendable, Codable, Hashable {
    package let name: String
    package let kind: PlaceKind
    package let root: BytePath
    /// How symlinks on the way to its files are handled.
    package let links: Root.Links

    /// Bytes; a larger file is refused without being read.
    package let sizeLimit: Int64

    /// Default size limit in bytes.
    package static let standardSizeLimit: Int64 = 64 << 30

    package init(
        name: String, kind: PlaceKind, root: BytePath, links: Root.Links = .never,
        sizeLimit: Int64 = PlaceInfo.standardSizeLimit
    ) {
        self.sizeLimit = sizeLimit
        self.name = name
        self.kind = kind
        self.root = root
        self.links = links
    }
}
