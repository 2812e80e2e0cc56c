import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault thumbnail`
struct VaultThumbnail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Write a small JPEG of a comic's cover, or of a page, out of the vault.",
        discussion: """
            Those of covers, and of the pages of comics that are not too long, were sealed with the comic; others are \
            made in memory, by the caged process. None is kept elsewhere.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The comic's name, its id, or the beginning of that.")
    var comic: PathArgument

    @Argument(help: "The page's number, from 1, or `cover`.")
    var page = "cover"

    @OptionGroup var target: VaultTarget

    func validate() throws {
        guard let choice = PageChoice(page), choice == .cover || Int(page).map({ $0 > 0 }) == true else {
            throw ValidationError("`\(page)` is neither a page's number, from 1, nor `cover`")
        }
        try target.check(options)
    }

    func run() async throws {
        try await VaultOptions.guarding {
            let number = Int(page)
            let mark = (number.map { "-p\($0)" } ?? "-cover") + "-thumbnail.jpg"
            try target.fill(comic, options, unlocking, named: { $0.name(of: mark) }) {
                ExtractVaultThumbnail(of: $0, page: number)
            }
        }
    }
}
