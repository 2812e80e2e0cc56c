import AgentKit
import ArgumentParser
import ComicVault
import Platform
import TKCommands

/// `steward vault quarantine adopt`
struct VaultAdopt: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Turn an archive without a comic into one.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The object's id, or a prefix of it.")
    var object: String

    @Option(name: .long, help: "The comic's name.")
    var name: PathArgument?

    var request: AdoptVaultObject { AdoptVaultObject(object, as: name?.path) }
}
