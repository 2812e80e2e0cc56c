import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Platform

/// `steward vault`
struct Vault: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault", abstract: "Keep comics encrypted; only who unlocks the vault sees what is in it.",
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

/// `steward vault init`
struct VaultInit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a vault, with a password or a key file.",
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
                ?? keyFile.map { PasswordSource.keyFile(ComicOperations.path($0.path, from: ComicsOptions.here)) }
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
                    "Whoever loses the password loses the comics. A second way in: `steward vault slots add`, or",
                    "`steward vault export-key`, kept where the vault is not.",
                    "Next: `steward vault unlock`, while the agent runs.",
                ], json: options.json)
        }
    }
}

/// `steward vault unlock`
struct VaultUnlock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Hand the agent the vault's key.",
        discussion: """
            The agent then takes in what was deposited while the vault was locked. It forgets the key when the vault was \
            not used for a while (`lock-after` in the configuration), on `steward vault lock`, on SIGUSR1, when the \
            machine is suspended and when it stops.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Flag(name: .shortAndLong, help: "Drop an incomplete last record of the manifest without asking.")
    var yes = false

    func run() async throws {
        try await VaultOptions.guarding {
            let (place, socket) = (try options.place(), try options.directories().socket)
            guard let status = try VaultClient.ask(ShowVaultStatus(), of: place.name, at: socket) else {
                throw Fault(
                    .failed,
                    "no agent is running to hold the key (nobody listens at \(socket)); start one with `steward run`. "
                        + "Other commands on the vault ask for the password themselves")
            }
            if status.isUnlocked {
                return try Output.show(
                    status, lines: ["the vault \(place.name) is unlocked already"], json: options.json)
            }
            let source = try unlocking.source(options)
            let opened = try Unlocking(source: source, vault: place.name, isAgreed: yes).run { credential, drops in
                let unlock = UnlockVault(dropsTornTail: drops)
                guard let answer = try VaultClient.ask(unlock, of: place.name, [credential], at: socket) else {
                    throw Fault(.failed, "the agent has gone away; see its log")
                }
                return answer
            }
            var lines = opened.lines
            if status.deposits > 0 {
                lines.append(
                    status.deposits == 1
                        ? "1 deposit waits: what this host made is being taken in"
                        : "\(status.deposits) deposits wait: those that this host made are being taken in")
            }
            try Output.show(opened, lines: lines, json: options.json)
        }
    }
}

/// `steward vault lock`
struct VaultLock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Have the agent forget the vault's key, at once.",
        discussion: "When it returns the key is gone. Work that needs it fails, and is tried again or deposited.")

    @OptionGroup var options: VaultOptions

    @Flag(name: .long, help: "All vaults of the configuration.")
    var all = false

    func run() async throws {
        try await VaultOptions.guarding {
            let socket = try options.directories().socket
            let places = all ? try options.configuration().vaults : [try options.place()]
            let locked = try places.map { try LockVault.ask($0.name, at: socket) }
            try Output.show(locked, lines: locked.flatMap(\.lines), json: options.json)
        }
    }
}

/// `steward vault status`
struct VaultShowStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say which vaults there are, and what is wrong with them.",
        discussion: "Needs no password.")

    @OptionGroup var options: VaultOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let socket = try options.directories().socket
            let places = try options.configuration().vaults
            let found = try places.map { try VaultStatus.asked($0, socket) }
            let lines = found.isEmpty ? ["no vault is configured"] : found.flatMap(\.lines)
            try Output.show(found, lines: lines, json: options.json)
        }
    }
}
