import ComicVault
import Platform

/// How far a comic of the vault has been read: `vault progress` and `vault bookmark`.
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
    package var isSet: Bool?

    init(_ entry: ComicEntry, _ state: ManifestState) {
        let details = VaultComicDetails(entry, state)
        (id, name) = (entry.id, entry.name)
        pages = details.comic.pages == 0 ? nil : details.comic.pages
        (page, isFinished, bookmarks) = (details.page, details.isFinished, details.bookmarks)
    }

    package var lines: [String] {
        let place = page.map { "page \($0)" + (pages.map { " of \($0)" } ?? "") }
        let marks = bookmarks.isEmpty ? "" : "; bookmarks on \(bookmarks.map(String.init).joined(separator: ", "))"
        return ["\(name): \(isFinished ? "read to the end" : place ?? "not read yet")\(marks)"]
    }

    /// - Parameter page: that was asked about.
    package func bookmarkLines(_ page: Int?) -> [String] {
        let list = bookmarks.map(String.init).joined(separator: ", ")
        return (isSet.map { ["\($0 ? "bookmark on" : "no bookmark on") page \(page ?? 0)"] } ?? [])
            + [list.isEmpty ? "no bookmarks" : "bookmarks: \(list)"]
    }
}

/// Reading progress and bookmarks, sealed in the manifest like all else.
extension VaultOperations {
    func progress(_ request: VaultRequest, _ entry: ComicEntry, _ vault: SealedVault) throws -> VaultReading {
        let count = Int(entry.summary.pages)
        switch request.mark {
        case nil: break
        case .reset:
            for page in try vault.state().bookmarks[entry.id]?.keys.sorted() ?? [] {
                try vault.removeBookmark(page: page, of: entry.id)
            }
            if try vault.state().progress[entry.id] != nil { try vault.setProgress(nil, of: entry.id) }
        case .page:
            let page = try Self.index(request.page, of: count, entry)
            try vault.setProgress(
                ReadingProgress(page: page, isFinished: Int(page) + 1 == count, time: .now()), of: entry.id)
        case .done:
            let last = try count > 0 ? UInt32(count - 1) : vault.state().progress[entry.id]?.page ?? 0
            try vault.setProgress(ReadingProgress(page: last, isFinished: true, time: .now()), of: entry.id)
        case .toggle, .remove: throw Fault(.usage, "say how far the comic was read")
        }
        return VaultReading(entry, try vault.state())
    }

    func bookmark(_ request: VaultRequest, _ entry: ComicEntry, _ vault: SealedVault) throws -> VaultReading {
        var isSet: Bool?
        if let mark = request.mark {
            let page = try Self.index(request.page, of: Int(entry.summary.pages), entry)
            let isThere = try vault.state().bookmarks[entry.id]?[page] != nil
            isSet = mark == .toggle && !isThere
            if isThere {
                try vault.removeBookmark(page: page, of: entry.id)
            } else if mark == .toggle {
                try vault.addBookmark(Bookmark(page: page, note: "", time: .now()), to: entry.id)
            }
        }
        var reading = VaultReading(entry, try vault.state())
        reading.isSet = isSet
        return reading
    }

    /// - Parameters:
    ///   - number: from 1.
    ///   - count: 0 where nobody knows: an adopted comic was not looked into.
    /// - Returns: counted from 0.
    private static func index(_ number: Int?, of count: Int, _ entry: ComicEntry) throws -> UInt32 {
        guard let number, number > 0 else { throw countedFromOne }
        guard count == 0 || number <= count, let index = UInt32(exactly: number - 1) else {
            throw Fault(
                .usage, "\(entry.name) has \(ComicText.count(count, "page")); there is no page \(number)")
        }
        return index
    }
}
