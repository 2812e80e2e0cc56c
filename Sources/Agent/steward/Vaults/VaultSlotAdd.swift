import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault slots add`
struct VaultSlotAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add another password or key file.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions
    @OptionGroup var new: NewSecretOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let access = try options.access(unlocking.source(options))
            // Check access first, before asking for a new password.
            _ = try access.ask(ListVaultComics())
            let change = try access.ask(AddVaultSlot(), [new.read()])
            access.close()
            try Output.show(change, lines: change.lines, json: options.json)
        }
    }
}
