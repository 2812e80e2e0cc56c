import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault page`
struct VaultPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Write one page of a comic out of the vault.",
        discussion: """
            Only that page is decrypted, but where pages cannot be found by themselves: then a PDF is opened in memory, and a \
            damaged archive is searched piece by piece. Nothing but the page is written, and that where you say.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The comic's name, its id, or the beginning of that.")
    var comic: PathArgument

    @Argument(help: "The page's number, from 1.")
    var page: Int

    @OptionGroup var target: VaultTarget

    func validate() throws {
        if page < 1 { throw ValidationError("pages are counted from 1") }
        try target.check(options)
    }

    func run() async throws {
        try await VaultOptions.guarding {
            try target.fill(comic, options, unlocking, named: { $0.name(of: "-p\(page)") }) {
                ExtractVaultPage(of: $0, page: page)
            }
        }
    }
}
