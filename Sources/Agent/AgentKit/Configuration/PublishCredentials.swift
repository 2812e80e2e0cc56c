import Platform
import RuleActions
import TKCore

/// The tokens and secrets of targets, found as the keys of models are: in the environment (`NAME_API_KEY`), among systemd's
/// credentials (`name_api_key`), or in a file of mode 0600 (`secrets/NAME` beside `steward.yaml`).
package struct PublishCredentials: Sendable {
    private let secrets: SecretChain

    /// - Parameters:
    ///   - directories: say where the configuration lies.
    ///   - environment: may hold credentials, and names the folder of systemd's.
    package init(_ directories: Directories, environment: [String: String]) {
        secrets = SecretChain([
            EnvironmentSecrets(environment: environment, configured: nil),
            CredentialSecrets(environment: environment, configured: nil),
            FileSecretStore(folder: Self.folder(directories)),
        ])
    }

    /// Where files with credentials lie.
    package static func folder(_ directories: Directories) -> BytePath {
        directories.configuration.parent.appending("secrets")
    }

    /// Whether a credential can be called so; it becomes part of a file's name and of a variable's.
    package static func isName(_ name: String) -> Bool { name.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,63}/) != nil }

    /// Blocks for a moment.
    ///
    /// - Parameter name: as the target says it.
    /// - Returns: nil where nobody has it.
    /// - Throws: `Fault` for one that must not be used: others may read its file.
    package func secret(_ name: String) throws -> SecretBytes? {
        try secrets.secret(for: name).map { SecretBytes(lockedWherePossible: $0.reveal().utf8) }
    }

    /// - Parameter name: as the target says it.
    /// - Returns: where it comes from, for people; nil where nobody has it.
    /// - Throws: as ``secret(_:)``.
    package func origin(_ name: String) throws -> String? { try secrets.origin(for: name) }
}
