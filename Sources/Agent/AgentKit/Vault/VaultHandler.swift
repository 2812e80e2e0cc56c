import ComicVault
import Logging
import Platform

extension VaultRequest: Conversation {
    static let name = "vault"

    func hold(on connection: ControlConnection, with agent: Agent) async throws {
        try await agent.vaultHandler.answer(self, connection)
    }
}

/// The daemon's answers about vaults.
struct VaultHandler: Sendable {
    let keeper: VaultKeeper
    /// Where vaults are used, and what they hold is written, which may wait for whoever reads it: a pager, a slow pipe.
    private let outward = BlockingLanes("vault.answers", count: 8)

    init(keeper: VaultKeeper) { self.keeper = keeper }

    func answer(_ request: VaultRequest, _ connection: ControlConnection) async throws {
        do {
            try connection.loseThePatience()
            let answer = try await VaultError.coded { try await carryOut(request, connection) }
            try await connection.lane.run { try connection.send(.answer, answer) }
        } catch {
            let failure = VaultFailure(error)
            try await connection.lane.run {
                try connection.loseThePatience()
                try connection.send(.failure, failure)
            }
        }
    }

    private func carryOut(
        _ request: VaultRequest, _ connection: ControlConnection
    ) async throws -> any Encodable & Sendable {
        let service = try keeper.service(request.vault)
        if request.operation == .status { return try await VaultStatus.live(service) }
        if request.operation == .lock {
            return VaultLocked(vault: request.vault, wasUnlocked: await service.lock(.asked))
        }
        // Nothing is asked for that cannot be used.
        if request.operation != .unlock, await !service.isUnlocked { throw VaultError.locked }
        guard request.secrets.count <= 2 else { throw Fault(.usage, "that takes at most two passwords") }
        let secrets = try await connection.lane.run { try request.secrets.map { try connection.receiveSecret($0) } }
        if request.operation == .unlock {
            guard let credential = secrets.first else { throw Fault(.usage, "a password or key file is needed") }
            return VaultUnlocked(
                request.vault, try await service.unlock(credential, dropsTornTail: request.dropsTornTail))
        }
        let operations = VaultOperations(service.place)
        let refusals = await service.refusals
        let limit = service.place.idle.map { Duration.seconds($0) }
        return try await service.use(on: outward) { vault in
            // Who reads slowly is waited for; an unlocked vault that nobody takes anything from is used by nobody.
            try connection.keepThePatience { waited in
                if !vault.isUnlocked { throw VaultOperations.lockedMeanwhile }
                if let limit, waited > limit { throw Fault(.failed, "nobody has taken the answer") }
            }
            let outlet = VaultOutlet(
                progress: { try connection.send(.progress, VaultProgress(done: $0, total: $1, text: $2)) },
                bytes: { try connection.send(.bytes, $0) })
            let report = try operations.carryOut(request, secrets, on: vault, PacedOutlet.over(outlet))
            guard var listing = report as? VaultQuarantineListing else { return report }
            for index in listing.deposits.indices {
                listing.deposits[index].problem = refusals[listing.deposits[index].id]
            }
            return listing
        }
    }
}

/// `vault lock`
package struct VaultLocked: Codable, Sendable {
    package let vault: String
    package let wasUnlocked: Bool

    package init(vault: String, wasUnlocked: Bool) {
        self.vault = vault
        self.wasUnlocked = wasUnlocked
    }

    package var lines: [String] { ["the vault \(vault) is locked" + (wasUnlocked ? "" : " already")] }
}

/// Says how far the work has come ten times a second, not with every part.
private enum PacedOutlet {
    static func over(_ outlet: VaultOutlet) -> VaultOutlet {
        var last = ContinuousClock.now - .seconds(1)
        return VaultOutlet(
            progress: { done, total, text in
                let now = ContinuousClock.now
                guard now - last >= .milliseconds(100) else { return }
                last = now
                try outlet.progress(done, total, text)
            }, bytes: outlet.bytes)
    }
}

extension VaultNotice {
    /// For the log; no line tells what a comic is called.
    func logLines(_ vault: String) -> [(Logger.Level, String)] {
        switch self {
        case .unlocked(let report):
            [(.notice, "the vault \(vault) is unlocked")]
                + report.warnings.map { (.warning, "the vault \(vault): \($0)") }
        case .locked(let reason): [(.notice, "the vault \(vault) is locked: \(reason.text)")]
        case .ingested(let id): [(.info, "the vault \(vault) took in the deposit \(id)")]
        case .notIngested(let id, let code):
            [
                (
                    .warning,
                    "the vault \(vault) did not take in the deposit \(id) (\(code)); `steward vault quarantine` says why"
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
