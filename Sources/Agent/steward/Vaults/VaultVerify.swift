import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault verify`
struct VaultVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read every byte of the vault, and report damage and missing files.",
        discussion: """
            Checks comics, deposits, manifest, key slots and public key, and compares them with this host's record. Changes nothing. \
            Exits with 2 if something is wrong.
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
