import Foundation

/// What a program that a rule runs sees of the agent's own environment: a list, so that no key, credential or socket that
/// is given to the agent goes on to it by default. A rule adds what its program needs besides.
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
            // Python would else look for its modules in the folder it is started in before it looks in its own.
            .merging(["PYTHONSAFEPATH": "1"]) { $1 }
    }
}
