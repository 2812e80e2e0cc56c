import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault quarantine discard`
struct VaultDiscard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Destroy unwanted deposits and objects; asks first.",
        discussion: "A deposit that is missing is forgotten.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Ids, or prefixes of them.")
    var ids: [String]

    @OptionGroup var destruction: Destruction

    func run() async throws {
        try await VaultOptions.guarding {
            try destruction.carryOut(
                DiscardVaultObjects(ids), options, unlocking.source(options),
                question: { "Destroy \($0 == 1 ? "it" : "these \($0)") for good?" },
                otherwise: "nothing was discarded")
        }
    }
}
