import Foundation

/// The environment variables that a program of a rule inherits. An allowlist, so that keys, credentials and sockets
/// given to the agent are not passed on. A rule can add others.
enum ProgramEnvironment {
    private static let variables = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CONFIG_HOME",
        "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
    ]
    private static let locale = "LC_"

    /// The list, for the manual.
    static var names: String { (variables + [locale + "*"]).map { "`\($0)`" }.joined(separator: ", ") }

    static var inherited: [String: String] {
        ProcessInfo.processInfo.environment.filter { variables.contains($0.key) || $0.key.hasPrefix(locale) }
            // Otherwise Python would search the working folder for modules first.
            .merging(["PYTHONSAFEPATH": "1"]) { $1 }
    }
}
