import ComicVault
import Platform

/// `steward vault rename`
package struct RenameVaultComic: VaultCommand {
    package static let name = "vault-rename"
    /// Its name, its id, or the beginning of its id.
    private let comic: String
    private let newName: BytePath

    package init(_ comic: String, to newName: BytePath) { (self.comic, self.newName) = (comic, newName) }

    package func run(on vault: VaultContext) throws -> VaultChange {
        let entry = try vault.comic(comic)
        let renamed = try vault.sealed.rename(entry.id, to: newName)
        return VaultChange(done: "renamed \(entry.name) to", items: [.init(renamed.id, name: renamed.name)])
    }
}
