/// How a reader presents pages: spreads and the cover.
package enum PageLayout {
    /// Whether a page is a double-page spread, shown alone: wider than 1.2 times its height, or stated to be one.
    package static func isDoublePage(width: Int, height: Int, stated: Bool? = nil) -> Bool {
        // In integers: 1.2 has no exact binary form.
        if let stated { return stated }
        guard (1...1 << 40).contains(width), (1...1 << 40).contains(height) else { return false }
        return width * 5 > height * 6
    }

    /// The index of the cover among pages in reading order: ComicInfo's FrontCover, else a page named `cover` or
    /// `folder`, else the first. nil if there are no pages.
    ///
    /// - Parameter stated: the pages of the metadata; entries that point past the end are ignored.
    package static func cover(of pages: [[UInt8]], stated: [ComicPageInfo] = []) -> Int? {
        if let front = stated.first(where: { $0.type == .frontCover && pages.indices.contains($0.image) }) {
            return front.image
        }
        let named = pages.firstIndex { page in
            let name = page.split(separator: UInt8(ascii: "/")).last ?? []
            let stem = name.lastIndex(of: UInt8(ascii: ".")).map { name[..<$0] } ?? name
            return ["cover", "folder"].contains(String(decoding: stem, as: UTF8.self).lowercased())
        }
        return named ?? pages.indices.first
    }

    /// The indices of the pages to show, without those marked as Deleted in the metadata.
    package static func shown(count: Int, stated: [ComicPageInfo]) -> [Int] {
        let deleted = Set(stated.filter { $0.type == .deleted }.map(\.image))
        return (0..<max(0, count)).filter { !deleted.contains($0) }
    }
}
