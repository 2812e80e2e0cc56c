import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault lock`
struct VaultLock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Make the agent forget the vault's key, at once.",
        discussion: "When it returns, the key is gone. Work that needs it fails, and is retried or deposited.")

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
