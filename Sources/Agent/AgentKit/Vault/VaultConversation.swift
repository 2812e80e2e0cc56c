import ComicVault
import ControlSocket
import Platform

/// A vault request on the control socket. Secrets are sent separately when the agent asks for them, never as part of
/// any text.
struct VaultConversation<Request: VaultRequest>: Conversation {
    static var name: String { Request.name }

    let vault: String
    let secrets: [VaultSecret]
    let arguments: Request

    func hold(on connection: ControlConnection, with agent: Agent) async throws {
        do {
            try connection.setTimeout()
            let call = VaultCall(
                service: try agent.core.vaults.service(vault), connection: connection, pool: agent.vaultPool,
                promised: secrets)
            let answer = try await arguments.answer(call)
            try await connection.pool.run { try connection.send(.answer, answer) }
        } catch {
            let failure = VaultFailure(error)
            try await connection.pool.run {
                try connection.setTimeout()
                try connection.send(.failure, failure)
            }
        }
    }
}

/// Announces a password or key file that follows a request.
struct VaultSecret: Codable {
    let kind: Credential.Kind
    /// In bytes.
    let count: Int
}

/// A request received by an agent, with the vault it is about.
package struct VaultCall: Sendable {
    let service: VaultService
    fileprivate let connection: ControlConnection
    /// Threads for using vaults and writing their content, which may wait for a slow reader: a pager, a slow pipe.
    fileprivate let pool: BlockingPool
    fileprivate let promised: [VaultSecret]

    /// Receives the announced secrets.
    func secrets() async throws -> [Credential] {
        guard promised.count <= 2 else { throw Fault(.usage, "that takes at most two passwords") }
        return try await connection.pool.run { try promised.map { try connection.receiveSecret($0) } }
    }
}

extension VaultCommand {
    package func answer(_ call: VaultCall) async throws -> Answer {
        let (service, connection) = (call.service, call.connection)
        // Never ask for secrets while the vault is locked.
        guard await service.isUnlocked else { throw VaultError.locked }
        let secrets = try await call.secrets()
        let refusals = await service.refusals
        let limit = service.place.idle.map { Duration.seconds($0) }
        return try await service.use(on: call.pool) { vault in
            // A slow reader is waited for, but only for the idle time: an answer that nobody reads is no use of the
            // vault.
            try connection.waitWithoutTimeout { waited in
                if !vault.isUnlocked { throw VaultContext.lockedMeanwhile }
                if let limit, waited > limit { throw Fault(.failed, "the answer was not read") }
            }
            let outlet = VaultOutlet(
                progress: { try connection.send(.progress, VaultProgress(done: $0, total: $1, text: $2)) },
                bytes: { try connection.send(.bytes, $0) })
            return try run(
                on: VaultContext(service.place, vault, secrets, refusals: refusals, PacedOutlet.over(outlet)))
        }
    }
}

/// Limits progress reports to ten per second.
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
