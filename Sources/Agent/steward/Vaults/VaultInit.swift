import AgentKit
import ArgumentParser
import ComicVault
import Platform
import TKCommands

/// `steward vault init`
struct VaultInit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Create a vault, with a password or a key file.",
        discussion: """
            The folder is the configured one, which must be empty or missing. Without the password nothing in the vault \
            can ever be read again: keep it, and a second slot (`steward vault slots add`) or an exported key, elsewhere.
            """)

    struct Made: Encodable {
        let vault: String
        let path: BytePath
        let id: VaultID
        let fingerprint: String
    }

    @OptionGroup var options: VaultOptions

    @Option(name: .long, help: "Read the password from this open descriptor: one line.")
    var passwordFd: Int32?

    @Option(
        name: .long, help: "Take this key file (32 to 4,096 random bytes) instead of a password.", completion: .file())
    var keyFile: PathArgument?

    func validate() throws {
        if passwordFd != nil && keyFile != nil {
            throw ValidationError("--password-fd and --key-file exclude each other")
        }
    }

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            let status = try VaultStatus(place)
            guard !status.isThere else {
                throw Fault(.failed, "\(place.path) is a vault already; nothing was changed there", path: place.path)
            }
            let source =
                try passwordFd.map { try UnlockOptions.descriptor($0, "--password-fd") }
                ?? keyFile.map { PasswordSource.keyFile($0.located) }
                ?? .terminal
            let credential = try NewSecret.read(source, "New password for the vault \(place.name)")
            let vault = try SealedVault.create(
                at: place.path, host: place.hostState(), credentials: [credential])
            let pin = try VaultDeposit.offered(at: place.path, host: vault.host)
            vault.lock()
            let made = Made(vault: place.name, path: place.path, id: vault.id, fingerprint: pin.fingerprint)
            try Output.show(
                made,
                lines: [
                    "made the vault \(place.name) at \(place.path)", "fingerprint: \(pin.fingerprint)", "",
                    "Without the password the comics are lost. For a second way in: `steward vault slots add`, or",
                    "`steward vault export-key`, kept apart from the vault.",
                    "Next: `steward vault unlock`, while the agent is running.",
                ], json: options.json)
        }
    }
}
