import ComicVault
import Platform

/// `steward vault quarantine discard`: destroys deposits and objects, and forgets missing deposits.
package struct DiscardVaultObjects: VaultDestruction {
    package static let name = "vault-discard"
    package var isDryRun = false
    /// The beginnings of their ids.
    private var ids: [String]

    package init(_ ids: [String]) { self.ids = ids }

    package mutating func narrow(to items: [VaultChange.Item]) { ids = items.map(\.id) }

    package func run(on vault: VaultContext) throws -> VaultChange {
        let objects = try vault.sealed.quarantine().map(\.id)
        let drops = try vault.sealed.drops()
        let deposits = drops.waiting.map(\.id) + drops.missing.map(\.drop)
        let ids = try ids.map { try VaultContext.object($0, among: objects + deposits) }
        if isDryRun {
            return VaultChange(
                done: "would discard",
                items: ids.map { id in
                    let what =
                        objects.contains(id)
                        ? "an object without a comic"
                        : drops.missing.contains { $0.drop == id } ? "a deposit that is gone" : "a deposit"
                    return .init(id, note: what)
                })
        }
        return VaultChange(
            done: "discarded",
            items: try ids.map { id in
                var note: String?
                if deposits.contains(id) {
                    try vault.sealed.removeDrop(id)
                } else if try !vault.sealed.discardQuarantined(id) {
                    note = "its file has other hard links and can still be read there"
                }
                return .init(id, note: note)
            })
    }
}
