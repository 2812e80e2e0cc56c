import ComicArchive
import Platform

/// One page of a comic as commands show it.
package struct ComicPageLine: Encodable, Sendable {
    /// From 1, in reading order.
    package let number: Int
    /// Its path in the archive, with `\xHH` for bytes that are not UTF-8.
    package let name: String
    /// In bytes.
    package let size: Int64
    package let format: String?
    package let width: Int?
    package let height: Int?
    /// A double-page spread, which a reader shows alone.
    package let isDouble: Bool
    package let isCover: Bool
    /// Marked as Deleted by the metadata: readers skip it.
    package let isDeleted: Bool
    /// SHA-256, if requested.
    package let hash: ContentHash?
    package let damage: String?

    static func all(_ report: ComicReport, _ facts: ComicFacts) -> [ComicPageLine] {
        let stated = facts.metadata.pages
        let byIndex = Dictionary(stated.map { ($0.image, $0) }, uniquingKeysWith: { first, _ in first })
        let cover = PageLayout.cover(of: report.pages.map { BytePath.unescape($0.entry.path) }, stated: stated)
        let shown = Set(PageLayout.shown(count: report.pages.count, stated: stated))
        return report.pages.enumerated().map { index, page in
            ComicPageLine(
                number: index + 1, name: page.entry.path, size: page.entry.uncompressedSize,
                format: page.image?.format.rawValue, width: page.image?.width, height: page.image?.height,
                isDouble: PageLayout.isDoublePage(
                    width: page.image?.width ?? 0, height: page.image?.height ?? 0, stated: byIndex[index]?.doublePage),
                isCover: index == cover, isDeleted: !shown.contains(index), hash: page.hash, damage: page.damage)
        }
    }

    static func lines(_ pages: [ComicPageLine], bookmarks: Set<Int> = [], width: Int?) -> [String] {
        var table = TextTable([.right, .left, .left, .right, .right, .left, .left], flexible: 1)
        for page in pages {
            let marks = [
                page.isCover ? "cover" : nil, page.isDouble ? "double" : nil, page.isDeleted ? "deleted" : nil,
                bookmarks.contains(page.number) ? "bookmark" : nil, page.damage.map { "damaged: \($0)" },
            ].compactMap { $0 }.joined(separator: ", ")
            let size = page.width.flatMap { width in page.height.map { "\(width) × \($0)" } } ?? ""
            table.add([
                "\(page.number)", page.name, page.format ?? "", size, ComicText.bytes(page.size), marks,
                page.hash?.description ?? "",
            ])
        }
        return table.lines(width: width)
    }
}
