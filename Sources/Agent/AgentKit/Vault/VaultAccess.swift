import ComicVault
import Foundation
import JSONText
import Platform

/// A command's way to a vault: through the daemon where that has it unlocked, else by opening it here.
package final class VaultAccess {
    private let place: VaultPlace
    private let socket: BytePath
    private let unlock: (SealedVault) throws -> UnlockReport
    private var own: SealedVault?

    /// - Parameter unlock: unlocks the vault that it is given; called once, and only where it has to be.
    package init(_ place: VaultPlace, socket: BytePath, unlock: @escaping (SealedVault) throws -> UnlockReport) {
        self.place = place
        self.socket = socket
        self.unlock = unlock
    }

    /// Blocks until it is done.
    ///
    /// - Parameter secrets: what the operation takes besides the vault being unlocked.
    package func ask<R: Decodable>(
        _ request: VaultRequest, _ secrets: [Credential] = [], as type: R.Type, _ outlet: VaultOutlet = VaultOutlet()
    ) throws -> R {
        if own == nil, let answer = try askDaemon(request, secrets, outlet) {
            return try JSONDecoder().decode(type, from: Data(answer))
        }
        return try VaultError.coded {
            let vault = try own ?? open()
            let report = try VaultOperations(place).carryOut(request, secrets, on: vault, outlet)
            return try JSONDecoder().decode(type, from: Data(try JSONText.line(report).utf8))
        }
    }

    /// - Returns: nil where the daemon does not have the keys.
    private func askDaemon(
        _ request: VaultRequest, _ secrets: [Credential], _ outlet: VaultOutlet
    ) throws -> [UInt8]? {
        do {
            return try VaultClient.ask(request, secrets, at: socket, outlet)
        } catch let fault as Fault where fault.code == VaultCode.locked || fault.code == VaultKeeper.unknown {
            return nil
        }
    }

    private func open() throws -> SealedVault {
        let vault = try place.open()
        _ = try unlock(vault)
        own = vault
        return vault
    }

    /// Forgets the keys, where this command has them.
    package func close() {
        own?.lock()
        own = nil
    }
}
