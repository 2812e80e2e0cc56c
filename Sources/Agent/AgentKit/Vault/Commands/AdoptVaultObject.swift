import ComicVault
import Platform

/// `steward vault quarantine adopt`: turns an orphaned archive into a comic.
package struct AdoptVaultObject: VaultCommand {
    package static let name = "vault-adopt"
    /// The beginning of its id.
    private let object: String
    /// The comic's name; nil for a name derived from the id.
    private let comicName: BytePath?

    package init(_ object: String, as comicName: BytePath?) { (self.object, self.comicName) = (object, comicName) }

    package func run(on vault: VaultContext) throws -> VaultChange {
        let id = try VaultContext.object(object, among: vault.sealed.quarantine().map(\.id))
        let entry = try vault.sealed.adopt(id, as: comicName ?? BytePath("recovered-\(id.description.prefix(8))"))
        return VaultChange(done: "adopted", items: [.init(entry.id, name: entry.name)])
    }
}
