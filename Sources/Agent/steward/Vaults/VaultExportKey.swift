import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault export-key`
struct VaultExportKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export-key", abstract: "Write the vault's own key to a file, in case all passwords are lost.",
        discussion: """
            Whoever has the file and the vault can read everything. Keep it offline, and not where backups of the vault \
            are. It also carries the key that tells this installation's backups from others (`steward restore --key`). The \
            vault must be locked: the password is asked for, even by the agent's own user.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Option(name: .shortAndLong, help: "The file to create; it must not exist.", completion: .file())
    var output: PathArgument

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            try VaultAlone.require(place, options)
            let vault = try place.open()
            let source = try unlocking.source(options)
            _ = try Unlocking(source: source, vault: place.name).run { try vault.unlock($0, dropsTornTail: $1) }
            let path = output.located
            do {
                try vault.exportKey(to: path, backupKey: BackupKey.make(in: options.directories().state).bytes)
            } catch let fault as Fault where fault.errno == EEXIST {
                throw Fault(.failed, "\(path) exists already; give another name", path: path, errno: EEXIST)
            }
            vault.lock()
            try Output.show(
                ["path": path.description],
                lines: ["wrote \(path); anybody who has it and the vault can read everything"], json: options.json)
        }
    }
}
