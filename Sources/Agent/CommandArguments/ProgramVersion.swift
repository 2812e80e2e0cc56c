import CCommit

/// What `--version` says; the one place where the version stands.
package enum ProgramVersion {
    /// By semantic versioning. The package takes it from what the built program says.
    package static let number = "0.1.0"

    /// With the commit where the build named one, as `make release` does: `0.1.0 (6b4f36a1c0de)`.
    package static var text: String {
        let commit = String(cString: steward_commit())
        return commit.isEmpty ? number : "\(number) (\(commit))"
    }
}
