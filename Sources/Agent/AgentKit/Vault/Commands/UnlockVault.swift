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
            out.append("this host has not seen the vault before: whether it is the newest copy, nobody can tell")
        case .firstUse:
            out.append("this host's mark of the vault was lost: whether this is the newest copy, nobody can tell")
        case .rolledBack(let mark, let disk):
            out.append(
                "the vault is an older copy or another branch (here \(disk), remembered \(mark)): it can be read only; put "
                    + "the newer copy back, or run `steward vault accept-rollback`")
        }
        out += damagedSlots.map { "\($0)" }
        if !junk.isEmpty {
            out.append(
                "bytes of no record stood at the end of \(junk.map(\.description).joined(separator: ", ")), though other logs "
                    + "follow: the vault has not put them there; they were left out")
        }
        if let tornTail { out.append("the incomplete last record of \(tornTail) was dropped") }
        if isPublicKeyRestored {
            out.append(
                "vault.pub had been replaced and was put right: deposits of other hosts may be sealed to somebody else")
        }
        if let keptOld {
            out.append(
                "a rekey was interrupted, and this host does not know the vault to be whole: that of before was kept at "
                    + "\(keptOld); see `steward vault verify`")
        }
        let missing = recovery.missing.count
        if missing > 0 {
            out.append(
                "\(ComicText.count(missing, "object")) that the manifest names gone; `steward vault verify` names them")
        }
        if !recovery.quarantined.isEmpty {
            let objects = ComicText.count(recovery.quarantined.count, "object")
            out.append("\(objects) that no comic has went to the quarantine: `steward vault quarantine`")
        }
        if !recovery.strange.isEmpty {
            out.append(
                "in objects/ lies what the vault did not make: \(recovery.strange.map(\.description).joined(separator: ", "))"
            )
        }
        if !recovery.shared.isEmpty {
            out.append(
                "\(ComicText.count(recovery.shared.count, "removed object")) had other hard links: there they can be read still"
            )
        }
        return out
    }
}
