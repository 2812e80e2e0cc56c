import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault passwd`
struct VaultPasswd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwd", abstract: "Change a password or key file.",
        discussion: """
            Takes no longer for a large vault. Other slots are unchanged, and earlier copies of the vault still \
            open with the old password: if a password became known, only `steward vault rekey` helps.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions
    @OptionGroup var new: NewSecretOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            let vault = try place.open()
            // Check the old password first, before asking for a new one.
            let old = try Unlocking(source: unlocking.source(options), vault: place.name, prompt: "Old password").run {
                credential, _ in
                _ = try KeySlots(vault.folder, vault.description).open(credential)
                return credential
            }
            let credential = try new.read()
            // Unlocking is not needed, as the command passes the old password.
            let access = VaultAccess(place, socket: try options.directories().socket) { _ in }
            let change = try access.ask(ChangeVaultPassword(), [old, credential])
            let others = try vault.slots().count - 1
            let stay = others == 1 ? "1 other slot stays" : "\(others) other slots stay"
            let rest = others > 0 ? ["\(stay) valid: `steward vault slots`"] : []
            try Output.show(
                change,
                lines: change.lines + rest + ["Earlier copies of the vault still open with the old one."],
                json: options.json)
        }
    }
}
