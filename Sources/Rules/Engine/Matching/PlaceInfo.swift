import Platform

/// What a place is for; defaults of rules follow from it.
package enum PlaceKind: String, Sendable, Codable, CaseIterable {
    /// The A4 vault.
    case notes
    case drafts
    /// The comics inbox: what lies there wants to leave.
    case inbox
    case dropbox
    case folder

    /// Whether files come here only to go on from here: they are processed at the first start, and quarantined if refused.
    package var isIncoming: Bool { self == .inbox || self == .dropbox }
}

/// A configured place as rules see it.
package struct PlaceInfo: Sendable, Codable, Hashable {
    package let name: String
    package let kind: PlaceKind
    package let root: BytePath
    /// What is done about symbolic links on the way to its files.
    package let links: Root.Links

    /// Bytes; a larger file is refused without being read.
    package let sizeLimit: Int64

    /// Bytes that a file may have where a place says nothing else.
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
