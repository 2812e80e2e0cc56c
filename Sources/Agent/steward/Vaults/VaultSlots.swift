import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault slots`
struct VaultSlots: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slots", abstract: "The passwords and key files that open the vault, eight at most.",
        subcommands: [VaultSlotList.self, VaultSlotAdd.self, VaultSlotRemove.self],
        defaultSubcommand: VaultSlotList.self)
}
