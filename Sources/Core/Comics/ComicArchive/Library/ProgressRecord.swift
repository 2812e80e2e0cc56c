import Platform

/// How far a comic has been read (docs/design/comic-archives.md, "Reading progress"). Identified by its content, so
/// that a moved or renamed file keeps its place.
package struct ProgressRecord: Sendable, Equatable, Codable {
    package let content: ContentHash
    /// From 0.
    package let currentPage: Int
    package let totalPages: Int
    package let lastReadDate: Timestamp
    /// Whether the current page is the last one; turning back resets it.
    package let isCompleted: Bool
    /// Pages from 0, ascending.
    package let bookmarks: [Int]
    /// The file's path when it was last read.
    package let path: BytePath

    /// 0...100; 0 if the comic has no pages.
    package var percent: Double {
        totalPages > 0 ? min(100, Double(currentPage + 1) / Double(totalPages) * 100) : 0
    }
}
