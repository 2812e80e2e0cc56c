import Platform

/// What validating an archive comes to.
package enum Verdict: Sendable {
    case accepted(ComicReport)
    /// `message` says what is wrong, where, and what to do, in one line.
    case refused(reason: RefusalReason, message: String)
}

/// What an accepted archive holds; where names were withheld (``EntryNames``), without a name or word of it.
package struct ComicReport: Sendable {
    package var format: ArchiveFormat
    package var isSolid: Bool
    /// In reading order.
    package var pages: [PageReport]
    /// In the archive's order.
    package var metadata: [FoundMetadata]
    package var skipped: [SkippedEntry]
    /// What was wrong and was let pass, one line each. In strict mode: pages that were decoded and show only in part.
    package var damage: [String]
    /// What was said of it although nothing is amiss that could be seen, one line each.
    package var notes: [String] = []
    package var headerCount: Int
    /// Bytes of all pages and metadata files, inflated and counted.
    package var totalSize: Int64
    /// The file that was read, as it was before and after.
    package var fingerprint: Fingerprint
}

/// One page.
package struct PageReport: Sendable {
    package var entry: ArchiveEntry
    /// nil unless hashes were asked for.
    package var hash: ContentHash?
    /// nil where the page does not begin as an image that is known.
    package var image: ImageHeader?
    /// What is wrong with this page; nil for a good one.
    package var damage: String?
    /// Where it stands in a ZIP; nil where that is not known.
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
