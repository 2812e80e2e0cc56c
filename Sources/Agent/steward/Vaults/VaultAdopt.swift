import AgentKit
import ArgumentParser
import ComicVault
import Platform
import TKCommands

/// `steward vault quarantine adopt`
struct VaultAdopt: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Make a comic of an archive that no comic has.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The object's id, or the beginning of it.")
    var object: String

    @Option(name: .long, help: "What the comic is to be called.")
    var name: PathArgument?

    var request: AdoptVaultObject { AdoptVaultObject(object, as: name?.path) }
}
