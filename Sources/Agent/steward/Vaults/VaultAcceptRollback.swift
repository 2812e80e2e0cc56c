import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault accept-rollback`
struct VaultAcceptRollback: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-rollback", abstract: "Accept an older copy of the vault; asks first.",
        discussion: """
            For when the vault was restored from a backup on purpose. Should nobody have done that, somebody has put an \
            old copy in the vault's place: look for the newer one before you accept.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @OptionGroup var destruction: Destruction

    func run() async throws {
        try await VaultOptions.guarding {
            try destruction.carryOut(
                AcceptVaultRollback(), options, unlocking.source(options),
                question: { _ in
                    "Continue with this copy? Additional content of the newer one stays in the quarantine, or is lost."
                }, otherwise: "nothing was changed")
        }
    }
}
