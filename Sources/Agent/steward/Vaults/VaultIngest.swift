import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault quarantine take-in`
struct VaultIngest: VaultRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "take-in", abstract: "Ingest deposits.",
        discussion: """
            Without ids: of all that this host has made, as the agent does when it is unlocked. A deposit of another host, \
            or one that is not as this host made it, has to be named; its archive is validated like any other.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Ids of deposits, or prefixes of them.")
    var deposits: [String] = []

    var request: TakeInDeposits { TakeInDeposits(deposits) }
}
