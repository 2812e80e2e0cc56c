import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault extract`
struct VaultExtract: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extract", abstract: "Write a comic out of the vault, as it was imported.",
        discussion: """
            The file is unencrypted, readable only by its owner (mode 0600), and the vault keeps its copy. In \
            a folder the file has the comic's name. Nothing is overwritten without --force.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Its name, its id, or the beginning of that.")
    var comic: PathArgument

    @OptionGroup var target: VaultTarget

    func validate() throws { try target.check(options) }

    func run() async throws {
        try await VaultOptions.guarding {
            try target.fill(comic, options, unlocking, named: \.bytes) { ExtractVaultComic($0) }
        }
    }
}
