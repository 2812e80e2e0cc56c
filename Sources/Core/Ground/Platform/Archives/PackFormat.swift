/// How files are packed into an archive; which formats can be is in ``ArchiveFormat/traits``.
package struct PackFormat: RawRepresentable, Sendable, Hashable, Codable, CaseIterable {
    /// As rules name it, `tar.zst`, and the archive's ending. Part of stored data, which must not change.
    package let rawValue: String
    /// What it is good for, for people.
    package let advantage: String
    /// libarchive's number for the variant that is written, `ARCHIVE_FORMAT_…`.
    package let libarchive: Int32
    package let compression: Compression?
    /// Whether its headers can say that a name is bytes of no encoding.
    package let takesRawNames: Bool

    init(
        _ name: String, _ advantage: String, libarchive: Int32, _ compression: Compression? = nil, takesRawNames: Bool
    ) {
        (rawValue, self.advantage, self.libarchive) = (name, advantage, libarchive)
        (self.compression, self.takesRawNames) = (compression, takesRawNames)
    }

    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    package static let allCases = ArchiveFormat.allCases.compactMap(\.traits.packing)
    /// Those that keep every name, for people.
    package static let forAnyName = allCases.filter(\.takesRawNames).map(\.rawValue).alternatives
}
