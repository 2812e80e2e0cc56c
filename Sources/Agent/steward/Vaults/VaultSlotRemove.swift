import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault slots remove`
struct VaultSlotRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a slot; asks first. The last one stays.",
        discussion: "Earlier copies of the vault still open with it.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The slot's id, or a prefix of it.")
    var slot: String

    @OptionGroup var destruction: Destruction

    func run() async throws {
        try await VaultOptions.guarding {
            try destruction.carryOut(
                RemoveVaultSlot(slot), options, unlocking.source(options),
                question: { _ in "Remove it? Its password or key file will no longer open the vault." },
                otherwise: "nothing was removed")
        }
    }
}
