import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Platform

/// `steward vault quarantine`
struct VaultQuarantine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Look after deposits that wait, and objects that no comic has.",
        subcommands: [VaultQuarantineList.self, VaultIngest.self, VaultAdopt.self, VaultDiscard.self],
        defaultSubcommand: VaultQuarantineList.self)
}

/// `steward vault quarantine list`
struct VaultQuarantineList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Show what waits, and why.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    func run() async throws {
        try await VaultOptions.guarding { try options.carryOut(ListVaultQuarantine(), unlocking) }
    }
}

/// `steward vault quarantine take-in`
struct VaultIngest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "take-in", abstract: "Make comics of deposits.",
        discussion: """
            Without ids: of all that this host has made, as the agent does when it is unlocked. A deposit of another host, \
            or one that is not as this host made it, has to be named; its archive is validated like any other.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Ids of deposits, or the beginnings of them.")
    var deposits: [String] = []

    func run() async throws {
        try await VaultOptions.guarding { try options.carryOut(TakeInDeposits(deposits), unlocking) }
    }
}

/// `steward vault quarantine adopt`
struct VaultAdopt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Make a comic of an archive that no comic has.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The object's id, or the beginning of it.")
    var object: String

    @Option(name: .long, help: "What the comic is to be called.")
    var name: PathArgument?

    func run() async throws {
        try await VaultOptions.guarding {
            try options.carryOut(AdoptVaultObject(object, as: name?.path), unlocking)
        }
    }
}

/// `steward vault quarantine discard`
struct VaultDiscard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Destroy deposits and objects that are not wanted; asks first.",
        discussion: "A deposit that is missing is forgotten.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "Ids, or the beginnings of them.")
    var ids: [String]

    @OptionGroup var destruction: Destruction

    func run() async throws {
        try await VaultOptions.guarding {
            try destruction.carryOut(
                DiscardVaultObjects(ids), options, unlocking.source(options),
                question: { "Destroy \($0 == 1 ? "it" : "these \($0)") for good?" },
                otherwise: "nothing was discarded")
        }
    }
}

/// `steward vault accept-rollback`
struct VaultAcceptRollback: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-rollback", abstract: "Take an older copy of the vault for the vault; asks first.",
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
                    "Go on from this copy? What the newer one had besides stays in the quarantine, or is lost."
                }, otherwise: "nothing was changed")
        }
    }
}

/// `steward vault trust`
struct VaultTrust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Have this host deposit comics in the vault that lies there.",
        discussion: """
            For a vault that another host made or keeps, or after its keys were renewed. Compare the fingerprint with the \
            one that `steward vault status` shows on the vault's own host: whoever can write to the folder can put a key \
            of his own there, and would read what this host deposits.
            """)

    struct Trusted: Encodable {
        let vault: VaultID
        let fingerprint: String
        let isNew: Bool
    }

    @OptionGroup var options: VaultOptions

    @Option(name: .long, help: "The fingerprint that it must have; then nobody is asked.")
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
                    "Is that what its own host shows?", yes: false, json: options.json,
                    otherwise: "nothing is trusted")
            }
            try VaultDeposit.trust(offered, host: host)
            try Output.show(
                Trusted(vault: offered.vault, fingerprint: offered.fingerprint, isNew: true),
                lines: ["this host deposits in it from now on"], json: options.json)
        }
    }
}
