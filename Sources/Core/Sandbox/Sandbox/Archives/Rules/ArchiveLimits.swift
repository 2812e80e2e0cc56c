/// What an archive may contain (docs/design/comic-archives.md, "Limits"). Sizes are counted inflated bytes.
///
/// ``PageRules`` decides which names are pages, ``ImageHeader`` how large a picture may be.
package enum ArchiveLimits {
    /// Pages; an archive with more is refused.
    package static let maxEntryCount = 2000
    /// Bytes of one entry, 100 MiB; a larger one is skipped.
    package static let maxUncompressedEntrySize: Int64 = 100 << 20
    /// Bytes of all entries, 2 GiB; an archive with more is refused.
    package static let maxTotalUncompressedSize: Int64 = 2 << 30

    /// Bytes of all entries of a solid RAR 4, which is unpacked in memory, 512 MiB; an archive with more is refused.
    package static let maxSolidRarSize: Int64 = 512 << 20

    /// Headers of every kind, including folders, links and skipped files.
    package static let maxHeaderCount = 5000
    /// Bytes of one name.
    package static let maxNameLength = 1024
    /// Bytes of all names.
    package static let maxNamesLength = 4 << 20
    /// Inflated bytes per byte of the file, once more than `ratioFloor` were inflated.
    package static let maxRatio: Int64 = 100
    package static let ratioFloor: Int64 = 64 << 20
    /// Bytes of ComicInfo.xml and MetronInfo.xml.
    package static let maxMetadataSize: Int64 = 1 << 20
    package static let maxMetadataFiles = 8
}
