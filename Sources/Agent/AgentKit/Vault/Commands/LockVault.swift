import ComicVault
import Platform

/// `steward vault lock`: has the agent forget the key, at once.
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

    /// Where no agent runs, or the one that does knows no such vault, nobody has the key. Blocks.
    package static func ask(_ vault: String, at socket: BytePath) throws -> Answer {
        let nobodyHasTheKey = Answer(vault: vault, wasUnlocked: false)
        do {
            return try VaultClient.ask(LockVault(), of: vault, at: socket) ?? nobodyHasTheKey
        } catch let fault as Fault where fault.code == VaultKeeper.unknown {
            return nobodyHasTheKey
        }
    }
}
