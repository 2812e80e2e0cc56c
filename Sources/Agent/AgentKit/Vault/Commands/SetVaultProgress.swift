import ComicVault
import Platform

/// `steward vault progress`: shows or sets a comic's reading progress, which is sealed in the manifest like everything
/// else.
package struct SetVaultProgress: VaultCommand {
    package enum Change: Codable, Sendable {
        /// The current page, from 1.
        case page(Int)
        /// Finished.
        case done
        /// As if it had never been opened.
        case reset
    }

    package static let name = "vault-progress"
    /// Its name, its id, or the beginning of its id.
    private let comic: String
    /// nil only shows the progress.
    private let change: Change?

    package init(_ comic: String, _ change: Change?) { (self.comic, self.change) = (comic, change) }

    package func run(on vault: VaultContext) throws -> VaultReading {
        let (sealed, entry) = (vault.sealed, try vault.comic(comic))
        let count = Int(entry.summary.pages)
        switch change {
        case nil: break
        case .reset:
            for page in try sealed.state().bookmarks[entry.id]?.keys.sorted() ?? [] {
                try sealed.removeBookmark(page: page, of: entry.id)
            }
            if try sealed.state().progress[entry.id] != nil { try sealed.setProgress(nil, of: entry.id) }
        case .page(let number):
            let page = try entry.index(ofPage: number)
            try sealed.setProgress(
                ReadingProgress(page: page, isFinished: Int(page) + 1 == count, time: .now()), of: entry.id)
        case .done:
            let last = try count > 0 ? UInt32(count - 1) : sealed.state().progress[entry.id]?.page ?? 0
            try sealed.setProgress(ReadingProgress(page: last, isFinished: true, time: .now()), of: entry.id)
        }
        return VaultReading(entry, try sealed.state())
    }

    package func lines(_ answer: VaultReading, on screen: Screen) -> [String] { answer.lines }
}

/// `steward vault bookmark`: shows a comic's bookmarks, or toggles one.
package struct SetVaultBookmark: VaultCommand {
    package static let name = "vault-bookmark"
    /// Its name, its id, or the beginning of its id.
    private let comic: String
    /// The page whose bookmark is toggled, from 1. nil only shows the bookmarks.
    private let page: Int?
    /// Removes a bookmark but never sets one.
    private let onlyRemoves: Bool

    package init(_ comic: String, page: Int?, onlyRemoves: Bool) {
        (self.comic, self.page, self.onlyRemoves) = (comic, page, onlyRemoves)
    }

    package func run(on vault: VaultContext) throws -> VaultReading {
        let (sealed, entry) = (vault.sealed, try vault.comic(comic))
        guard let page else { return VaultReading(entry, try sealed.state()) }
        let index = try entry.index(ofPage: page)
        let isThere = try sealed.state().bookmarks[entry.id]?[index] != nil
        let isSet = !isThere && !onlyRemoves
        if isThere { try sealed.removeBookmark(page: index, of: entry.id) }
        if isSet { try sealed.addBookmark(Bookmark(page: index, note: "", time: .now()), to: entry.id) }
        return VaultReading(entry, try sealed.state(), isSet: isSet)
    }

    package func lines(_ answer: VaultReading, on screen: Screen) -> [String] { answer.bookmarkLines(page) }
}

/// A comic's reading progress and bookmarks.
package struct VaultReading: Codable, Sendable {
    package let id: ComicID
    package let name: BytePath
    /// Number of pages; nil if unknown.
    package let pages: Int?
    /// The current page, from 1; nil if it was never opened or was reset.
    package let page: Int?
    package let isFinished: Bool
    /// From 1.
    package let bookmarks: [Int]
    /// Whether the requested page has a bookmark now.
    package let isSet: Bool?

    fileprivate init(_ entry: ComicEntry, _ state: ManifestState, isSet: Bool? = nil) {
        let details = VaultComicDetails(entry, state)
        (id, name) = (entry.id, entry.name)
        pages = details.comic.pages == 0 ? nil : details.comic.pages
        (page, isFinished, bookmarks) = (details.page, details.isFinished, details.bookmarks)
        self.isSet = isSet
    }

    fileprivate var lines: [String] {
        let place = page.map { "page \($0)" + (pages.map { " of \($0)" } ?? "") }
        let marks = bookmarks.isEmpty ? "" : "; bookmarks on \(bookmarks.map(String.init).joined(separator: ", "))"
        return ["\(name): \(isFinished ? "read to the end" : place ?? "not read yet")\(marks)"]
    }

    /// - Parameter page: the requested page.
    fileprivate func bookmarkLines(_ page: Int?) -> [String] {
        let list = bookmarks.map(String.init).joined(separator: ", ")
        return (isSet.map { ["\($0 ? "bookmark on" : "no bookmark on") page \(page ?? 0)"] } ?? [])
            + [list.isEmpty ? "no bookmarks" : "bookmarks: \(list)"]
    }
}

extension ComicEntry {
    /// - Parameter number: from 1. If the page count is unknown, as in an adopted comic, any number is valid.
    /// - Returns: a zero-based index.
    fileprivate func index(ofPage number: Int) throws -> UInt32 {
        let count = Int(summary.pages)
        guard number > 0 else { throw VaultContext.countedFromOne }
        guard count == 0 || number <= count, let index = UInt32(exactly: number - 1) else {
            throw Fault(.usage, "\(name) has \(ComicText.count(count, "page")); there is no page \(number)")
        }
        return index
    }
}
