import OwnFiles
import Platform

/// A vault as the configuration names it.
package struct VaultPlace: Hashable, Sendable {
    /// The vault that rules and commands use by default.
    package static let standardName = "main"

    package let name: String
    /// The vault's folder.
    package let path: BytePath
    /// The folder for this host's state of the vault; see ``HostState``.
    package let host: BytePath
    /// Idle seconds after which an unlocked vault is locked; nil for never.
    package let idle: Double?

    package init(name: String, path: BytePath, host: BytePath, idle: Double? = 900) {
        self.name = name
        self.path = path
        self.host = host
        self.idle = idle
    }

    /// This host's state; its folder is created. Blocks.
    package func hostState() throws -> HostState { try HostState(host) }

    /// The vault at this path, locked. Blocks.
    ///
    /// - Throws: like ``SealedVault/init(at:host:)``; ``VaultError/away(_:)`` if this host knows a vault here, and
    ///   there is none.
    package func open() throws -> SealedVault {
        let host = try hostState()
        do {
            return try SealedVault(at: path, host: host)
        } catch VaultError.notAVault(let what, let why) {
            guard try FileStatus.of(path.appending(VaultLayout.description)) == nil, try !host.pins().isEmpty else {
                throw VaultError.notAVault(what, why: why)
            }
            throw VaultError.away(path)
        }
    }
}
