import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault verify`
struct VaultVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read every byte of the vault, and say what is damaged or missing.",
        discussion: """
            Comics, deposits, manifest, key slots and public key, held against what this host remembers. Changes nothing. \
            Ends with 2 where something is wrong.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let report = try options.carryOut(VerifyVault(), unlocking, changesNothing: true)
            if !report.isWell { throw ExitCode(2) }
        }
    }
}
