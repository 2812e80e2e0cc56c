import ComicVault
import Platform

/// `steward vault list`
package struct ListVaultComics: VaultCommand {
    package static let name = "vault-list"

    package init() {}

    package func run(on vault: VaultContext) throws -> VaultListing {
        VaultListing(vault: vault.place.name, comics: try vault.sealed.list().map(VaultComicLine.init))
    }

    package func lines(_ answer: VaultListing, on screen: Screen) -> [String] { answer.lines(screen) }
}

/// The answer of `steward vault list`.
package struct VaultListing: Codable, Sendable {
    package let vault: String
    package let comics: [VaultComicLine]

    fileprivate func lines(_ screen: Screen) -> [String] {
        if comics.isEmpty { return ["the vault \(vault) is empty"] }
        var table = TextTable([.left, .left, .right, .right, .left], flexible: 1)
        for comic in comics {
            table.add([
                String(comic.id.description.prefix(8)), comic.name.description,
                comic.pages == 0 ? "" : ComicText.count(comic.pages, "page"),
                ComicText.bytes(Int64(clamping: comic.size)),
                ComicText.day(comic.added, screen.zone),
            ])
        }
        return table.lines(width: screen.width, indent: "")
            + ["", ComicText.count(comics.count, "comic") + ", " + ComicText.bytes(total)]
    }

    private var total: Int64 { Int64(clamping: comics.reduce(0) { $0 + $1.size }) }
}

/// A comic of the vault in a list.
package struct VaultComicLine: Codable, Sendable {
    package let id: ComicID
    package let name: BytePath
    package let title: String
    package let series: String
    package let number: String
    package let pages: Int
    package let format: String
    /// The archive's size in bytes.
    package let size: UInt64
    package let added: Timestamp

    init(_ entry: ComicEntry) {
        (id, name, size, added) = (entry.id, entry.name, entry.size, entry.added)
        let summary = entry.summary
        (title, series, number, format) = (summary.title, summary.series, summary.number, summary.format)
        pages = Int(summary.pages)
    }
}
