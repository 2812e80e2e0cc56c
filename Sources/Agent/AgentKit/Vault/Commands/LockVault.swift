import ComicVault
import Platform

/// `steward vault lock`: makes the agent forget the key at once.
package struct LockVault: VaultRequest {
    package struct Answer: Codable, Sendable {
        let vault: String
        let wasUnlocked: Bool

        package var lines: [String] { ["the vault \(vault) is locked" + (wasUnlocked ? "" : " already")] }
    }

    package static let name = "vault-lock"

    package func answer(_ call: VaultCall) async throws -> Answer {
        Answer(vault: call.service.place.name, wasUnlocked: await call.service.lock(.asked))
    }

    /// If no agent is running, or it does not know the vault, the key is nowhere in use. Blocks.
    package static func ask(_ vault: String, at socket: BytePath) throws -> Answer {
        let nobodyHasTheKey = Answer(vault: vault, wasUnlocked: false)
        do {
            return try VaultClient.ask(LockVault(), of: vault, at: socket) ?? nobodyHasTheKey
        } catch let fault as Fault where fault.code == VaultKeeper.unknown {
            return nobodyHasTheKey
        }
    }
}
