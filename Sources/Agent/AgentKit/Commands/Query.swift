import Ledger
import Platform
import Rules

/// A read-only command on the agent's records. The agent answers it; a user who may read its folders can also run it
/// directly, with or without a running agent.
package protocol Query: Command {
    func read(_ records: Records) async throws -> Answer
}

extension Query {
    package static var onlyLooks: Bool { true }

    package func run(in agent: AgentContext) async throws -> Answer { try await read(Records(agent.core)) }
}

/// The agent's records, opened for reading.
package struct Records: Sendable {
    let directories: Directories
    /// nil if no agent has created one.
    let ledger: Ledger?
    private let loaded: (configuration: Configuration?, diagnostics: [Diagnostic])

    init(_ core: AgentCore) {
        (directories, ledger, loaded) = (core.directories, core.ledger, (core.configuration, []))
    }

    /// The records on disk. Blocks.
    ///
    /// - Throws: if there is a ledger but it cannot be read.
    package init(_ directories: Directories) throws {
        self.directories = directories
        ledger = try Ledger.openForReading(directory: directories.state)
        loaded = Configuration.load(directories)
    }

    /// nil if it is broken; the ledger can still be read.
    var configuration: Configuration? { loaded.configuration }

    /// - Throws: ``Complaints`` if it is broken.
    func requireConfiguration() throws -> Configuration {
        guard let configuration else { throw Complaints(diagnostics: loaded.diagnostics) }
        return configuration
    }

    /// - Throws: `Fault` if no agent has created one.
    func requireLedger() throws -> Ledger {
        guard let ledger else {
            throw Fault(.failed, "there is no ledger yet in \(directories.state); start the agent with `steward run`")
        }
        return ledger
    }
}
