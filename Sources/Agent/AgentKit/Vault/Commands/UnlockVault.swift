import ComicVault
import Platform

/// `steward vault unlock`: gives the agent the key.
package struct UnlockVault: VaultRequest {
    package static let name = "vault-unlock"
    /// Whether to drop an incomplete last record of the manifest.
    private let dropsTornTail: Bool

    package init(dropsTornTail: Bool) { self.dropsTornTail = dropsTornTail }

    package func answer(_ call: VaultCall) async throws -> VaultUnlocked {
        guard let credential = try await call.secrets().first else {
            throw Fault(.usage, "a password or key file is needed")
        }
        return VaultUnlocked(
            call.service.place.name, try await call.service.unlock(credential, dropsTornTail: dropsTornTail))
    }
}

/// The result of an unlock, in words.
package struct VaultUnlocked: Codable, Sendable {
    package let vault: String
    package let isNew: Bool
    package let slot: SlotID?
    package let isRolledBack: Bool
    /// Warnings for the user.
    package let warnings: [String]

    /// - Parameter report: nil if the vault was already unlocked.
    fileprivate init(_ vault: String, _ report: UnlockReport?) {
        self.vault = vault
        isNew = report != nil
        slot = report?.slot
        warnings = report?.warnings ?? []
        if case .rolledBack = report?.freshness { isRolledBack = true } else { isRolledBack = false }
    }

    package var lines: [String] {
        [isNew ? "the vault \(vault) is unlocked" : "the vault \(vault) is unlocked already"]
            + warnings.map { "! \($0)" }
    }
}

extension UnlockReport {
    /// Warnings for the user; they never contain a comic's name.
    package var warnings: [String] {
        var out: [String] = []
        switch freshness {
        case .known: break
        case .firstUse where isNewlyPinned:
            out.append("this host has not seen the vault before, so it cannot check that this is the newest copy")
        case .firstUse:
            out.append("this host's mark of the vault was lost, so it cannot check that this is the newest copy")
        case .rolledBack(let mark, let disk):
            out.append(
                "the vault is an older copy or another branch (here \(disk), remembered \(mark)): it can be read only; put "
                    + "the newer copy back, or run `steward vault accept-rollback`")
        }
        out += damagedSlots.map { "\($0)" }
        if !junk.isEmpty {
            out.append(
                "unknown bytes were at the end of \(junk.map(\.description).joined(separator: ", ")), though other logs "
                    + "follow: the vault did not write them; they were dropped")
        }
        if let tornTail { out.append("the incomplete last record of \(tornTail) was dropped") }
        if isPublicKeyRestored {
            out.append(
                "vault.pub had been replaced and was restored: deposits of other hosts may be sealed to a foreign key")
        }
        if let keptOld {
            out.append(
                "a rekey was interrupted, and this host cannot confirm that the vault is complete: the old one was kept at "
                    + "\(keptOld); see `steward vault verify`")
        }
        let missing = recovery.missing.count
        if missing > 0 {
            out.append(
                "\(ComicText.count(missing, "object")) that the manifest names gone; `steward vault verify` names them")
        }
        if !recovery.quarantined.isEmpty {
            let objects = ComicText.count(recovery.quarantined.count, "object")
            out.append("\(objects) without a comic moved to the quarantine: `steward vault quarantine`")
        }
        if !recovery.strange.isEmpty {
            out.append(
                "objects/ contains files not made by the vault: \(recovery.strange.map(\.description).joined(separator: ", "))"
            )
        }
        if !recovery.shared.isEmpty {
            out.append(
                "\(ComicText.count(recovery.shared.count, "removed object")) had other hard links and can still be read there"
            )
        }
        return out
    }
}
