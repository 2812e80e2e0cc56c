import Foundation
import Ledger
import Platform
import Rules

/// A command that only reads what an agent keeps. The agent answers it; whoever may read its folders can do it there, beside
/// a running agent or without one.
package protocol Query: Command {
    func read(_ records: Records) async throws -> Answer
}

extension Query {
    package static var onlyLooks: Bool { true }

    package func run(in agent: AgentContext) async throws -> Answer { try await read(Records(agent.core)) }
}

/// What an agent keeps, to be read.
package struct Records: Sendable {
    let directories: Directories
    /// Nil where no agent has begun one.
    let ledger: Ledger?
    private let loaded: (configuration: Configuration?, diagnostics: [Diagnostic])

    init(_ core: AgentCore) {
        (directories, ledger, loaded) = (core.directories, core.ledger, (core.configuration, []))
    }

    /// As they lie on the disk. Blocks.
    ///
    /// - Throws: where there is a ledger that cannot be read.
    package init(_ directories: Directories) throws {
        self.directories = directories
        ledger = try Ledger.openForReading(directory: directories.state)
        loaded = Configuration.load(directories)
    }

    /// Nil where it is broken: what is in the ledger can be read all the same.
    var configuration: Configuration? { loaded.configuration }

    /// - Throws: ``Complaints`` where it is broken.
    func requireConfiguration() throws -> Configuration {
        guard let configuration else { throw Complaints(diagnostics: loaded.diagnostics) }
        return configuration
    }

    /// - Throws: `Fault` where no agent has begun one.
    func requireLedger() throws -> Ledger {
        guard let ledger else {
            throw Fault(.failed, "there is no ledger yet in \(directories.state); start the agent with `steward run`")
        }
        return ledger
    }
}
