import ComicVault
import Foundation
import Logging
import Platform

extension AgentCore {
    /// Unlocks the vaults for which systemd has given this service a credential. What goes wrong is said in the log; the
    /// vault stays locked, and comics are deposited. One whose disk does not answer is unlocked when it does.
    func unlockFromCredentials() async {
        guard ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] != nil else { return }
        await withTaskGroup(of: Void.self) { group in
            for service in vaults.services {
                group.addTask {
                    let unlocking: Void? = try? await outcome(within: 10) { await self.unlock(service) }
                    guard unlocking == nil else { return }
                    self.log.notice(
                        """
                        the vault \(service.place.name) is not unlocked yet: \(service.place.path) has not answered so far; \
                        it is unlocked when its disk, server or program does
                        """)
                }
            }
        }
    }

    private func unlock(_ service: VaultService) async {
        let name = service.place.name
        do {
            try await service.unlockWithKeyAtHand()
        } catch VaultError.away(let path) {
            log.warning("the vault \(name) is not unlocked yet: \(path) is away; it is unlocked when it is there again")
        } catch {
            log.error("the vault \(name) was not unlocked with its credential: \(explain(error))")
        }
    }
}
