import CCommit

/// The output of `--version`; the version is defined only here.
package enum ProgramVersion {
    /// Semantic versioning. Packaging reads it from the built program.
    package static let number = "0.1.0"

    /// With the commit if the build set one, as `make release` does: `0.1.0 (6b4f36a1c0de)`.
    package static var text: String {
        let commit = String(cString: steward_commit())
        return commit.isEmpty ? number : "\(number) (\(commit))"
    }
}
