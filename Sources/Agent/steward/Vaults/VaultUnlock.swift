import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault unlock`
struct VaultUnlock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Give the agent the vault's key.",
        discussion: """
            The agent then ingests deposits made while the vault was locked. It forgets the key when the vault was \
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
                    throw Fault(.failed, "the agent has ended; see its log")
                }
                return answer
            }
            var lines = opened.lines
            if status.deposits > 0 {
                lines.append(
                    status.deposits == 1
                        ? "1 deposit waits: if this host made it, it is being ingested"
                        : "\(status.deposits) deposits wait: those made by this host are being ingested")
            }
            try Output.show(opened, lines: lines, json: options.json)
        }
    }
}
