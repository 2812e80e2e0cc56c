import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// For operations during which the agent must not hold the keys.
enum VaultAlone {
    static func require(_ place: VaultPlace, _ options: VaultOptions) throws {
        guard try VaultStatus.asked(place, options.directories().socket).isUnlocked else { return }
        throw Fault(
            .failed,
            "the agent has the vault \(place.name) unlocked; run `steward vault lock` first, and this again")
    }
}
