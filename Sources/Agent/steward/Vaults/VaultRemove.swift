import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault remove`
struct VaultRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Destroy comics of the vault; asks first.",
        discussion: """
            There is no trash: the keys of their bytes are overwritten. Copies in backups, on copy-on-write file systems \
            and in the cells of flash drives can still be read with the vault's key; certain erasure is to remove, then \
            `steward vault rekey`, then to destroy the old copies.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Names, ids, or the beginnings of ids.")
    var comics: [PathArgument]

    @OptionGroup var destruction: Destruction

    func run() async throws {
        try await VaultOptions.guarding {
            try destruction.carryOut(
                RemoveVaultComics(comics.map(\.shown)), options, unlocking.source(options),
                question: { "Destroy \($0 == 1 ? "it" : "these \($0) comics") for good?" },
                otherwise: "nothing was removed")
        }
    }
}
