import ComicVault
import Foundation
import Logging
import Platform

extension AgentCore {
    /// Unlocks the vaults for which systemd provides a credential. Failures are logged; the vault stays locked, and
    /// comics are deposited. A vault whose disk hangs is unlocked once it answers.
    func unlockFromCredentials() async {
        guard ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] != nil else { return }
        await withTaskGroup(of: Void.self) { group in
            for service in vaults.services {
                group.addTask {
                    let unlocking: Void? = try? await outcome(within: 10) { await self.unlock(service) }
                    guard unlocking == nil else { return }
                    self.log.notice(
                        """
                        the vault \(service.place.name) is not unlocked yet: \(service.place.path) has not responded so far; \
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
            log.warning(
                "the vault \(name) is not unlocked yet: \(path) is away; it is unlocked when it is available again")
        } catch {
            log.error("the vault \(name) was not unlocked with its credential: \(explain(error))")
        }
    }
}

extension VaultService {
    /// An agent's vault service, which logs its notices.
    static func logging(_ place: VaultPlace, to log: Logger) -> VaultService {
        let environment = ProcessInfo.processInfo.environment
        return VaultService(
            place, judge: ArchiveDepositJudge(),
            notice: { notice in
                for (level, text) in notice.logLines(place.name) { log.log(level: level, "\(text)") }
            }, key: { try PasswordSource.credential(place.name, environment)?.read("") })
    }
}

extension VaultNotice {
    /// For the log; no line contains a comic's name.
    func logLines(_ vault: String) -> [(Logger.Level, String)] {
        switch self {
        case .unlocked(let report):
            [(.notice, "the vault \(vault) is unlocked")]
                + report.warnings.map { (.warning, "the vault \(vault): \($0)") }
        case .locked(let reason): [(.notice, "the vault \(vault) is locked: \(reason.text)")]
        case .ingested(let id): [(.info, "the vault \(vault) ingested the deposit \(id)")]
        case .notIngested(let id, let code):
            [
                (
                    .warning,
                    "the vault \(vault) did not ingest the deposit \(id) (\(code)); `steward vault quarantine` says why"
                )
            ]
        case .missing(let count):
            [
                (
                    .error,
                    "the vault \(vault): \(count) deposits of this host are gone; `steward vault quarantine` names them"
                )
            ]
        case .problem(let text): [(.error, "the vault \(vault): \(text)")]
        }
    }
}
