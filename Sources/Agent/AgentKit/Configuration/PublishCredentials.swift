import Platform
import RuleActions
import TKCore

/// The tokens and secrets of targets. Like the keys of models, they are looked up in the environment (`NAME_API_KEY`),
/// among systemd credentials (`name_api_key`), and in a file of mode 0600 (`secrets/NAME` beside `steward.yaml`).
package struct PublishCredentials: Sendable {
    private let secrets: SecretChain

    /// - Parameters:
    ///   - directories: where the configuration is.
    ///   - environment: may contain credentials, and names systemd's credentials folder.
    package init(_ directories: Directories, environment: [String: String]) {
        secrets = SecretChain([
            EnvironmentSecrets(environment: environment, configured: nil),
            CredentialSecrets(environment: environment, configured: nil),
            FileSecretStore(folder: Self.folder(directories)),
        ])
    }

    /// The folder of credential files.
    package static func folder(_ directories: Directories) -> BytePath {
        directories.configuration.parent.appending("secrets")
    }

    /// Whether it is a valid credential name; it becomes part of file and variable names.
    package static func isName(_ name: String) -> Bool { name.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,63}/) != nil }

    /// Blocks briefly.
    ///
    /// - Parameter name: as the target specifies it.
    /// - Returns: nil if there is none.
    /// - Throws: `Fault` for a credential that must not be used, as others may read its file.
    package func secret(_ name: String) throws -> SecretBytes? {
        try secrets.secret(for: name).map { SecretBytes(lockedWherePossible: $0.reveal().utf8) }
    }

    /// - Parameter name: as the target specifies it.
    /// - Returns: its source, for people; nil if there is none.
    /// - Throws: as ``secret(_:)``.
    package func origin(_ name: String) throws -> String? { try secrets.origin(for: name) }
}
