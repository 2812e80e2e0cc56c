import ComicVault
import Platform

/// `steward vault progress`: shows or sets how far a comic was read, which is sealed in the manifest like all else.
package struct SetVaultProgress: VaultCommand {
    package enum Change: Codable, Sendable {
        /// That page is being read; from 1.
        case page(Int)
        /// Read to its end.
        case done
        /// As if it had never been opened.
        case reset
    }

    package static let name = "vault-progress"
    /// Its name, its id, or the beginning of that.
    private let comic: String
    /// nil only asks.
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

/// `steward vault bookmark`: shows a comic's bookmarks, or sets and removes one.
package struct SetVaultBookmark: VaultCommand {
    package static let name = "vault-bookmark"
    /// Its name, its id, or the beginning of that.
    private let comic: String
    /// From 1: its bookmark is set where there is none, and removed where there is one. nil only asks.
    private let page: Int?
    /// Whether none is set.
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

/// How far a comic of the vault has been read, and its bookmarks.
package struct VaultReading: Codable, Sendable {
    package let id: ComicID
    package let name: BytePath
    /// How many there are; nil where nobody knows.
    package let pages: Int?
    /// The page being read, from 1; nil where it was never opened, or that was forgotten.
    package let page: Int?
    package let isFinished: Bool
    /// From 1.
    package let bookmarks: [Int]
    /// Whether the page that was asked about has a bookmark now.
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

    /// - Parameter page: that was asked about.
    fileprivate func bookmarkLines(_ page: Int?) -> [String] {
        let list = bookmarks.map(String.init).joined(separator: ", ")
        return (isSet.map { ["\($0 ? "bookmark on" : "no bookmark on") page \(page ?? 0)"] } ?? [])
            + [list.isEmpty ? "no bookmarks" : "bookmarks: \(list)"]
    }
}

extension ComicEntry {
    /// - Parameter number: from 1. Where nobody knows how many there are, as in an adopted comic, any will do.
    /// - Returns: counted from 0.
    fileprivate func index(ofPage number: Int) throws -> UInt32 {
        let count = Int(summary.pages)
        guard number > 0 else { throw VaultContext.countedFromOne }
        guard count == 0 || number <= count, let index = UInt32(exactly: number - 1) else {
            throw Fault(.usage, "\(name) has \(ComicText.count(count, "page")); there is no page \(number)")
        }
        return index
    }
}
