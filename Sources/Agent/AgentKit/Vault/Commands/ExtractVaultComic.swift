import ComicVault
import Platform

/// `steward vault extract`: outputs a comic as it was imported.
package struct ExtractVaultComic: VaultCommand {
    package static let name = "vault-extract"
    /// Its name, its id, or the beginning of its id.
    private let comic: String

    package init(_ comic: String) { self.comic = comic }

    package func run(on vault: VaultContext) throws -> VaultSent {
        let entry = try vault.comic(comic)
        let reader = try vault.sealed.open(.archive, of: entry.id)
        var done: Int64 = 0
        try reader.stream { part in
            try vault.outlet.bytes(part)
            done += Int64(part.count)
            try vault.outlet.progress(done, reader.length, "extracting")
        }
        return VaultSent(id: entry.id, name: entry.name, size: done)
    }
}

/// A file that left the vault.
package struct VaultSent: Codable, Sendable {
    package let id: ComicID
    package let name: BytePath
    /// From 1; nil for a whole archive and for the cover.
    package var page: Int?
    package var pages: Int?
    /// In bytes.
    package let size: Int64
    package var output: BytePath?

    package var lines: [String] {
        let what = page.map { "page \($0) of \(pages ?? 0), \(name)" } ?? name.description
        return ["\(what), \(ComicText.bytes(size))" + (output.map { " -> \($0)" } ?? "")]
    }
}

extension VaultCommand where Answer == VaultSent {
    package func lines(_ answer: VaultSent, on screen: Screen) -> [String] { answer.lines }
}
