import Platform

/// Identifies a thumbnail by its source's content, so that a moved file keeps it and a changed one loses it.
package struct ThumbnailKey: Hashable, Sendable {
    /// A page of a comic.
    package enum Page: Hashable, Sendable {
        /// The one shown on the shelf.
        case cover
        /// From 0, in reading order.
        case index(Int)
    }

    /// SHA-256 of everything that determines the thumbnail's look; independent of the file's name.
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
