import OwnFiles
import Platform

/// A vault as the configuration names it.
package struct VaultPlace: Hashable, Sendable {
    /// The name of the one that a rule or a command means where it names none.
    package static let standardName = "main"

    package let name: String
    /// The vault's folder.
    package let path: BytePath
    /// Where this host keeps what it remembers of the vault; see ``HostState``.
    package let host: BytePath
    /// Seconds without use after which an unlocked vault is locked; nil for never.
    package let idle: Double?

    package init(name: String, path: BytePath, host: BytePath, idle: Double? = 900) {
        self.name = name
        self.path = path
        self.host = host
        self.idle = idle
    }

    /// What the host remembers; its folder is made. Blocks.
    package func hostState() throws -> HostState { try HostState(host) }

    /// The vault that lies there, locked. Blocks.
    ///
    /// - Throws: as ``SealedVault/init(at:host:)``; ``VaultError/away(_:)`` where this host knows a vault here, and none is there.
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
