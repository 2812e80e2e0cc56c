import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault`
struct Vault: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "Keep comics encrypted; the contents are visible only while the vault is unlocked.",
        discussion: """
            `steward vault init` makes the vault that the configuration names. The agent deposits comics in it while it \
            is locked, and takes them in when `steward vault unlock` hands it the key. Other commands use the agent's key, \
            or ask for the password.

            A password is asked for at the terminal, or comes with --password-fd, --key-file or a credential of systemd \
            (steward-vault-NAME); never as an argument. docs/vault.md tells what is protected and what is not.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Open and close",
                subcommands: [VaultInit.self, VaultUnlock.self, VaultLock.self, VaultShowStatus.self]
            ),
            CommandGroup(
                name: "Comics",
                subcommands: [
                    VaultList.self, VaultShow.self, VaultExtract.self, VaultPage.self, VaultThumbnail.self,
                    VaultReadProgress.self, VaultBookmark.self, VaultRename.self, VaultRemove.self, VaultVerify.self,
                ]),
            CommandGroup(
                name: "Keys",
                subcommands: [
                    VaultPasswd.self, VaultSlots.self, VaultRekey.self, VaultExportKey.self, VaultImportKey.self,
                ]),
            CommandGroup(
                name: "Decisions", subcommands: [VaultQuarantine.self, VaultAcceptRollback.self, VaultTrust.self]),
        ])
}
