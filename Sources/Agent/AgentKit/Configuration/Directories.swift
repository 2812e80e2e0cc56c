import ControlSocket
import Foundation
import OwnFiles
import Platform

/// The agent's directories: per XDG for a user, per systemd's variables for a service.
package struct Directories: Sendable {
    /// The configuration file itself.
    package let configuration: BytePath
    /// Ledger, quarantine, copies of notes.
    package let state: BytePath
    /// The control socket.
    package let runtime: BytePath
    /// The dot store.
    package let data: BytePath
    /// `rules.d` folders, lowest precedence first.
    package var rules: [BytePath]
    /// The machine-wide rules folder, if the configuration is not machine-wide too: its rules may refer to places that
    /// only the machine's own agent knows.
    package var othersRules: BytePath?
    package let home: BytePath
    /// The user's home trash.
    package let trash: BytePath

    /// - Parameters:
    ///   - environment: HOME and XDG_*, or STATE_DIRECTORY and the like under systemd; STEWARD_STATE, STEWARD_RUNTIME,
    ///     STEWARD_DATA and STEWARD_RULES (a list with `:`) override each.
    ///   - configuration: the file given on the command line.
    /// - Throws: `Fault(.usage)` if there is neither HOME nor an explicit directory.
    package init(environment: [String: String], configuration given: BytePath? = nil) throws {
        func variable(_ names: String...) -> BytePath? { AgentFolders.variable(names, environment) }
        guard let folders = AgentFolders(environment: environment) else {
            throw Fault(.usage, "HOME is not set, so the configuration cannot be found; set it, or give --config")
        }
        let home = folders.home
        (self.home, state, runtime, socket) = (home, folders.state, folders.runtime, folders.socket)
        let share = environment["XDG_DATA_HOME"].map { BytePath($0) }
        trash = (share ?? home.appending(".local/share")).appending("Trash")
        let machine: BytePath = "/etc/steward"
        let isService = environment["STATE_DIRECTORY"] != nil
        let configHome = variable("XDG_CONFIG_HOME") ?? home.appending(".config")
        let configFolder =
            variable("CONFIGURATION_DIRECTORY") ?? (isService ? machine : configHome.appending("steward"))
        configuration =
            given.map { Self.absolute($0) } ?? variable("STEWARD_CONFIG") ?? configFolder.appending("steward.yaml")
        let folder = configuration.parent
        othersRules = configuration == machine.appending("steward.yaml") ? nil : machine.appending("rules.d")
        data =
            variable("STEWARD_DATA") ?? (isService ? state : nil)
            ?? (variable("XDG_DATA_HOME") ?? home.appending(".local/share")).appending("steward")
        if let list = environment["STEWARD_RULES"], !list.isEmpty {
            rules = list.split(separator: ":").map { BytePath(String($0)) }
        } else {
            let standard: [BytePath] = [
                "/usr/share/steward/rules.d", machine.appending("rules.d"), configHome.appending("steward/rules.d"),
            ]
            let own = folder.appending("rules.d")
            rules = standard.contains(own) ? standard : standard + [own]
        }
    }

    package let socket: BytePath
    /// A file that exists once an agent has kept a ledger here.
    package var alive: BytePath { state.appending("alive") }
    package var quarantine: BytePath { state.appending("quarantine") }

    /// Files that can be regenerated: thumbnails.
    package var cache: BytePath {
        let environment = ProcessInfo.processInfo.environment
        if let service = environment["CACHE_DIRECTORY"]?.split(separator: ":").first {
            return BytePath(String(service))
        }
        let base = environment["XDG_CACHE_HOME"].flatMap { $0.isEmpty ? nil : BytePath($0) }
        return (base ?? home.appending(".cache")).appending("steward")
    }

    /// This host's own data about the vault of that name.
    package func vaultHost(_ name: String) -> BytePath { state.appending("vaults").appending(name) }

    /// Expands `~` to HOME; relative paths are below `base`.
    package func expand(_ text: String, base: BytePath) -> BytePath {
        if text == "~" { return home }
        if text.hasPrefix("~/") { return home.appending(String(text.dropFirst(2))) }
        return text.hasPrefix("/") ? BytePath(text) : base.appending(text)
    }

    private static func absolute(_ path: BytePath) -> BytePath {
        path.isAbsolute ? path : BytePath.workingFolder.appending(path)
    }
}
