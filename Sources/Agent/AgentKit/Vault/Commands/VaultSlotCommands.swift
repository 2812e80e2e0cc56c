import ComicVault
import Platform

/// `steward vault passwd`: replaces a password or key file; the second secret is the new one.
package struct ChangeVaultPassword: VaultCommand {
    package static let name = "vault-passwd"

    package init() {}

    package func run(on vault: VaultContext) throws -> VaultChange {
        guard vault.secrets.count == 2 else { throw Fault(.usage, "an old and a new password are needed") }
        let slot = try vault.sealed.change(vault.secrets[0], to: vault.secrets[1])
        return VaultChange(slot: slot, done: "changed the slot")
    }
}

/// `steward vault slots add`: adds another password or key file that opens the vault.
package struct AddVaultSlot: VaultCommand {
    package static let name = "vault-slots-add"

    package init() {}

    package func run(on vault: VaultContext) throws -> VaultChange {
        guard let new = vault.secrets.first else { throw Fault(.usage, "a password or key file is needed") }
        return VaultChange(slot: try vault.sealed.addSlot(new), done: "added the slot")
    }
}

/// `steward vault slots remove`
package struct RemoveVaultSlot: VaultDestruction {
    package static let name = "vault-slots-remove"
    package var isDryRun = false
    /// The beginning of its id.
    private var slot: String

    package init(_ slot: String) { self.slot = slot }

    package mutating func narrow(to items: [VaultChange.Item]) { slot = items.first?.id ?? slot }

    package func run(on vault: VaultContext) throws -> VaultChange {
        let found = try vault.sealed.slots().map(\.id).filter { VaultContext.isAbbreviated($0, by: slot) }
        guard let only = found.first, found.count == 1 else {
            throw Fault(
                .usage,
                "no single slot has an id that begins with \(VaultContext.quote(slot)); see `steward vault slots`")
        }
        if isDryRun { return VaultChange(slot: only, done: "would remove the slot") }
        try vault.sealed.removeSlot(only)
        return VaultChange(slot: only, done: "removed the slot")
    }
}
