import AgentKit
import ArgumentParser
import ComicVault
import Platform
import TKCommands

/// `steward vault trust`
struct VaultTrust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Let this host deposit comics in the vault.",
        discussion: """
            For a vault that another host made or keeps, or after its keys were renewed. Compare the fingerprint with the \
            one that `steward vault status` shows on the vault's own host: anybody who can write to the folder can put a key \
            of his own there, and would read what this host deposits.
            """)

    struct Trusted: Encodable {
        let vault: VaultID
        let fingerprint: String
        let isNew: Bool
    }

    @OptionGroup var options: VaultOptions

    @Option(name: .long, help: "The expected fingerprint, instead of a question.")
    var fingerprint: String?

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            let host = try place.hostState()
            let offered = try VaultDeposit.offered(at: place.path, host: host)
            let known = try host.pins()
            if known.contains(offered) {
                return try Output.show(
                    Trusted(vault: offered.vault, fingerprint: offered.fingerprint, isNew: false),
                    lines: ["this host trusts it already: \(offered.fingerprint)"], json: options.json)
            }
            if let fingerprint {
                guard fingerprint == offered.fingerprint else {
                    throw Fault(
                        .refused,
                        "the vault at \(place.path) has the fingerprint \(offered.fingerprint), not that one; "
                            + "nothing is trusted", path: place.path)
                }
            } else {
                if !options.json {
                    Output.lines(
                        ["the vault at \(place.path)", "  fingerprint: \(offered.fingerprint)"]
                            + known.map { "  until now:   \($0.fingerprint)" })
                }
                try Consent.require(
                    "Does its own host show the same?", yes: false, json: options.json,
                    otherwise: "nothing is trusted")
            }
            try VaultDeposit.trust(offered, host: host)
            try Output.show(
                Trusted(vault: offered.vault, fingerprint: offered.fingerprint, isNew: true),
                lines: ["this host now makes deposits in it"], json: options.json)
        }
    }
}
