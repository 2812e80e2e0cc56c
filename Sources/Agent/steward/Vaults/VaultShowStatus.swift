import AgentKit
import ArgumentParser
import ComicVault
import Platform

/// `steward vault status`
struct VaultShowStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "List the vaults and their problems.",
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
