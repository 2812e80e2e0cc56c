import ComicVault
import Platform

/// A command's access to a vault: through the daemon if it has the vault unlocked, otherwise by opening it here.
package final class VaultAccess {
    private let place: VaultPlace
    private let socket: BytePath
    private let unlock: (SealedVault) throws -> Void
    private var own: SealedVault?

    /// - Parameter unlock: unlocks the given vault; called at most once, only if needed.
    package init(_ place: VaultPlace, socket: BytePath, unlock: @escaping (SealedVault) throws -> Void) {
        (self.place, self.socket, self.unlock) = (place, socket, unlock)
    }

    /// Blocks until it is done.
    ///
    /// - Parameter secrets: what the command needs in addition to the unlocked vault.
    /// - Throws: `Fault`.
    package func ask<C: VaultCommand>(
        _ command: C, _ secrets: [Credential] = [], _ outlet: VaultOutlet = VaultOutlet()
    ) throws -> C.Answer {
        if own == nil, let answer = try askDaemon(command, secrets, outlet) { return answer }
        return try VaultError.coded {
            try command.run(on: VaultContext(place, try own ?? open(), secrets, outlet))
        }
    }

    /// - Returns: nil if the daemon does not have the keys.
    private func askDaemon<C: VaultCommand>(
        _ command: C, _ secrets: [Credential], _ outlet: VaultOutlet
    ) throws -> C.Answer? {
        do {
            return try VaultClient.ask(command, of: place.name, secrets, at: socket, outlet)
        } catch let fault as Fault where fault.code == VaultCode.locked || fault.code == VaultKeeper.unknown {
            return nil
        }
    }

    private func open() throws -> SealedVault {
        let vault = try place.open()
        try unlock(vault)
        own = vault
        return vault
    }

    /// Forgets the keys, if this command has them.
    package func close() {
        own?.lock()
        own = nil
    }
}
