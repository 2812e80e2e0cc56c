import ComicVault
import Foundation
import Platform

/// `steward vault show`: everything the vault knows about one comic.
package struct ShowVaultComic: VaultCommand {
    package static let name = "vault-show"
    /// Its name, its id, or the beginning of its id.
    private let comic: String

    package init(_ comic: String) { self.comic = comic }

    package func run(on vault: VaultContext) throws -> VaultComicDetails {
        VaultComicDetails(try vault.comic(comic), try vault.sealed.state())
    }

    package func lines(_ answer: VaultComicDetails, on screen: Screen) -> [String] { answer.lines(zone: screen.zone) }
}

/// The answer of `steward vault show`.
package struct VaultComicDetails: Codable, Sendable {
    package struct Object: Codable, Sendable {
        package let id: ObjectID
        package let kind: String
        /// The content's size in bytes.
        package let size: UInt64
    }

    package let comic: VaultComicLine
    package let source: String
    package let objects: [Object]
    /// The current page, from 1.
    package let page: Int?
    package let isFinished: Bool
    /// From 1.
    package let bookmarks: [Int]

    init(_ entry: ComicEntry, _ state: ManifestState) {
        comic = VaultComicLine(entry)
        source = entry.source
        objects = entry.objects.map { Object(id: $0.id, kind: "\($0.kind)", size: $0.length) }
        let progress = state.progress[entry.id]
        page = progress.map { Int($0.page) + 1 }
        isFinished = progress?.isFinished ?? false
        bookmarks = (state.bookmarks[entry.id] ?? [:]).keys.sorted().map { Int($0) + 1 }
    }

    fileprivate func lines(zone: Zone) -> [String] {
        var facts: [(String, String)] = [
            ("id", comic.id.description), ("title", comic.title),
            ("series", [comic.series, comic.number].filter { !$0.isEmpty }.joined(separator: " ")),
            ("pages", comic.pages == 0 ? "" : String(comic.pages)), ("format", comic.format.uppercased()),
            ("size", ComicText.bytes(Int64(clamping: comic.size))), ("added", ComicText.day(comic.added, zone)),
            ("from", source),
        ]
        facts.append(("read", isFinished ? "to the end" : page.map { "page \($0)" } ?? ""))
        facts.append(("bookmarks", bookmarks.map(String.init).joined(separator: ", ")))
        facts += objects.map { ("object", "\($0.id)  \($0.kind), \(ComicText.bytes(Int64(clamping: $0.size)))") }
        return [comic.name.description]
            + facts.filter { !$0.1.isEmpty }.map { name, value in
                "  \(name.padding(toLength: 10, withPad: " ", startingAt: 0)) \(ComicText.safe(value))"
            }
    }
}
