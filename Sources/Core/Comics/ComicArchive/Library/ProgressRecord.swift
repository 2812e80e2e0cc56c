import Platform

/// How far a comic has been read (docs/design/comic-archives.md, "Reading progress"). Found by its content, so that
/// a file that is moved or renamed keeps its place.
package struct ProgressRecord: Sendable, Equatable, Codable {
    package let content: ContentHash
    /// From 0.
    package let currentPage: Int
    package let totalPages: Int
    package let lastReadDate: Timestamp
    /// Whether the current page is the last one; turning back undoes it.
    package let isCompleted: Bool
    /// Pages from 0, ascending.
    package let bookmarks: [Int]
    /// Where the file was when it was last read.
    package let path: BytePath

    /// 0...100; 0 where the comic has no pages.
    package var percent: Double {
        totalPages > 0 ? min(100, Double(currentPage + 1) / Double(totalPages) * 100) : 0
    }
}
