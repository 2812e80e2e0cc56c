import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault import-key`
struct VaultImportKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-key", abstract: "Create a new slot from an exported key.",
        discussion: "For when every password is lost. The vault must be locked.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var new: NewSecretOptions

    @Argument(help: "The exported key.", completion: .file())
    var file: PathArgument

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            try VaultAlone.require(place, options)
            let slot = try place.open().importKey(
                file.located, credential: new.read())
            let change = VaultChange(slot: slot, done: "added the slot")
            try Output.show(change, lines: change.lines, json: options.json)
        }
    }
}
