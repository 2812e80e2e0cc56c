import Platform

/// Names one thumbnail by what it was made of, so that a file that is moved keeps it and one that changes loses it.
package struct ThumbnailKey: Hashable, Sendable {
    /// Which page of a comic.
    package enum Page: Hashable, Sendable {
        /// The one that is shown on the shelf.
        case cover
        /// From 0, in reading order.
        case index(Int)
    }

    /// SHA-256 of all that decides what the thumbnail looks like; says nothing about the file's name.
    let name: ContentHash

    /// - Parameter content: SHA-256 of the comic's file.
    package init(content: ContentHash, page: Page, size: ThumbnailSize) {
        let page =
            switch page {
            case .cover: "cover"
            case .index(let index): "\(index)"
            }
        name = ContentHash(of: Array("thumbnail 1 \(content) \(page) \(size) \(ThumbnailSize.quality)".utf8))
    }
}
