import Platform

/// The folders by which other programs find an agent: per XDG for a user, per systemd's variables for a service.
package struct AgentFolders: Sendable {
    package let home: BytePath
    /// Ledger, quarantine, copies of notes.
    package let state: BytePath
    /// The control socket.
    package let runtime: BytePath

    /// - Parameter environment: HOME and XDG_*, or STATE_DIRECTORY and the like under systemd; STEWARD_STATE and
    ///   STEWARD_RUNTIME override each.
    /// - Returns: nil if HOME is not set.
    package init?(environment: [String: String]) {
        func variable(_ names: String...) -> BytePath? { Self.variable(names, environment) }
        guard let home = variable("HOME") else { return nil }
        self.home = home
        state =
            variable("STEWARD_STATE", "STATE_DIRECTORY")
            ?? (variable("XDG_STATE_HOME") ?? home.appending(".local/state")).appending("steward")
        runtime =
            variable("STEWARD_RUNTIME", "RUNTIME_DIRECTORY")
            ?? variable("XDG_RUNTIME_DIR").map { $0.appending("steward") } ?? state.appending("run")
    }

    package var socket: BytePath { runtime.appending("control.sock") }

    /// The first of these variables that has a value.
    package static func variable(_ names: [String], _ environment: [String: String]) -> BytePath? {
        names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }.map { value in
            // systemd separates several directories by colons; the first is the service's own.
            BytePath(String(value.split(separator: ":").first ?? ""))
        }
    }
}
