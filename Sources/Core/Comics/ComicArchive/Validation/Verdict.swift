import Platform

/// The result of validating an archive.
package enum Verdict: Sendable {
    case accepted(ComicReport)
    /// `message` states the problem, its location and the remedy, in one line.
    case refused(reason: RefusalReason, message: String)
}

/// The content of an accepted archive; if names were withheld (``EntryNames``), it contains none of the archive's names
/// or words.
package struct ComicReport: Sendable {
    package var format: ArchiveFormat
    package var isSolid: Bool
    /// In reading order.
    package var pages: [PageReport]
    /// In the archive's order.
    package var metadata: [FoundMetadata]
    package var skipped: [SkippedEntry]
    /// Tolerated defects, one line each. In strict mode: decoded pages that show only in part.
    package var damage: [String]
    /// Complaints without a visible defect, one line each.
    package var notes: [String] = []
    package var headerCount: Int
    /// Bytes of all pages and metadata files, inflated and counted.
    package var totalSize: Int64
    /// The file that was read; unchanged between start and end.
    package var fingerprint: Fingerprint
}

/// One page.
package struct PageReport: Sendable {
    package var entry: ArchiveEntry
    /// nil unless hashes were asked for.
    package var hash: ContentHash?
    /// nil if the page does not begin like a known image format.
    package var image: ImageHeader?
    /// The page's defect; nil for a good one.
    package var damage: String?
    /// Its place in a ZIP; nil if unknown.
    package var place: ZipPlace?
}

/// ComicInfo.xml or MetronInfo.xml as found: not parsed yet, at most 1 MiB.
package struct FoundMetadata: Sendable, Equatable {
    package var path: BytePath
    package var bytes: [UInt8]
}

package struct SkippedEntry: Sendable, Equatable {
    package var path: BytePath
    package var reason: SkipReason
}
