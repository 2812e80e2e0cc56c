import ComicVault
import Platform

/// `steward vault remove`: destroys comics.
package struct RemoveVaultComics: VaultDestruction {
    package static let name = "vault-remove"
    package var isDryRun = false
    /// Names, ids, or the beginnings of ids.
    private var comics: [String]

    package init(_ comics: [String]) { self.comics = comics }

    package mutating func narrow(to items: [VaultChange.Item]) { comics = items.map(\.id) }

    package func run(on vault: VaultContext) throws -> VaultChange {
        var entries: [ComicEntry] = []
        for text in comics {
            let entry = try vault.comic(text)
            if !entries.contains(where: { $0.id == entry.id }) { entries.append(entry) }
        }
        if isDryRun {
            return VaultChange(
                done: "would remove",
                items: entries.map {
                    .init($0.id, name: $0.name, note: ComicText.bytes(Int64(clamping: $0.size)))
                })
        }
        return VaultChange(
            done: "removed",
            items: try entries.map { entry in
                let shared = try vault.sealed.remove(entry.id).shared.count
                return .init(
                    entry.id, name: entry.name,
                    note: shared == 0
                        ? nil
                        : "\(ComicText.count(shared, "object")) had other hard links and can still be read there")
            })
    }
}
