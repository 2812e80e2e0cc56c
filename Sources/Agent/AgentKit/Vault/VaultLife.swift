import ComicVault
import Foundation
import Logging
import Platform

extension AgentCore {
    /// Unlocks the vaults for which systemd has given this service a credential. What goes wrong is said in the log; the
    /// vault stays locked, and comics are deposited.
    func unlockFromCredentials() async {
        let environment = ProcessInfo.processInfo.environment
        for service in vaults.services {
            let name = service.place.name
            do {
                guard
                    let credential = try await service.look({
                        try PasswordSource.credential(name, environment)?.read("")
                    })
                else { continue }
                try await service.unlock(credential)
            } catch {
                log.error("the vault \(name) was not unlocked with its credential: \(explain(error))")
            }
        }
    }
}
