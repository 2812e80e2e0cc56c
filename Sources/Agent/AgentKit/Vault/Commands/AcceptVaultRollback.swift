import ComicVault
import Platform

/// `steward vault accept-rollback`: accepts an older copy of the vault.
package struct AcceptVaultRollback: VaultDestruction {
    package static let name = "vault-accept-rollback"
    package var isDryRun = false

    package init() {}

    /// There is only one copy.
    package mutating func narrow(to items: [VaultChange.Item]) {}

    package func run(on vault: VaultContext) throws -> VaultChange {
        guard case .rolledBack(let mark, let disk) = try vault.sealed.freshness() else {
            return VaultChange(done: "nothing to accept: the vault is as this host left it", items: [])
        }
        let name = vault.place.name
        if isDryRun {
            return VaultChange(
                done: "would accept this copy as the vault",
                items: [.init(name, note: "it is at \(disk), and this host remembers \(mark)")])
        }
        let objects = ComicText.count(try vault.sealed.acceptRollback().quarantined.count, "object")
        return VaultChange(
            done: "accepted this copy as the vault", items: [.init(name, note: "\(objects) moved to the quarantine")])
    }
}
