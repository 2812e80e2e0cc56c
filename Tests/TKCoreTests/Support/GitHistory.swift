import Foundation
import Platform
import TestSupport

/// A git repository with one file and one commit for each of its revisions. It serves as an independent judge of
/// anchors, since its comparison was not written here. All calls block.
final class GitHistory: Sendable {
    static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/git")

    /// Where a line came from: the same in every revision in which it survives.
    struct Origin: Hashable, Sendable {
        var commit: Substring
        var line: Int
    }

    private let folder: TemporaryFolder

    /// - Parameter revisions: the file's text, oldest first.
    init(_ revisions: [String]) throws {
        folder = try TemporaryFolder("anchors-git")
        try git("init", "--quiet", "--initial-branch=main")
        var stream = ""
        for (number, text) in revisions.enumerated() {
            stream += """
                commit refs/heads/main
                mark :\(number + 1)
                committer Somebody <somebody@example.org> \(1_700_000_000 + number) +0000
                data 0
                \(number > 0 ? "from :\(number)\n" : "")M 100644 inline text
                data \(text.utf8.count)
                \(text)

                """
        }
        try git("fast-import", "--quiet", "--export-marks=marks", input: stream)
        let count = try git("rev-list", "--count", "main").trimmingCharacters(in: .whitespacesAndNewlines)
        guard count == "\(revisions.count)" else { throw TestFailure("git made \(count) commits") }
    }

    /// The text of a revision as git stores it; counted from 0.
    func text(_ revision: Int) throws -> String { try git("cat-file", "blob", "\(name(of: revision)):text") }

    /// Where each line of a revision came from (git blame), line 1 first.
    func origins(_ revision: Int) throws -> [Origin] {
        // `COMMIT LINE-THEN LINE-NOW [COUNT]` precedes each line. By bytes: CRLF is a single character, and not a line
        // end for git.
        try git("blame", "--porcelain", "--minimal", try name(of: revision), "--", "text").utf8
            .split(separator: UInt8(ascii: "\n")).compactMap { bytes in
                let row = Substring(bytes)
                let parts = row.split(separator: " ")
                guard !row.hasPrefix("\t"), (3...4).contains(parts.count), parts[0].count == 40,
                    parts[0].allSatisfy(\.isHexDigit), let line = Int(parts[1]), Int(parts[2]) != nil
                else { return nil }
                return Origin(commit: parts[0], line: line)
            }
    }

    private func name(of revision: Int) throws -> String {
        let marks = try folder.read("marks").split(separator: "\n")
        guard let mark = marks.first(where: { $0.hasPrefix(":\(revision + 1) ") }) else {
            throw TestFailure("there is no revision \(revision)")
        }
        return String(mark.drop { $0 != " " }.dropFirst())
    }

    @discardableResult
    private func git(_ arguments: String..., input: String? = nil) throws -> String {
        // No user settings, and not the repository in which the tests may be running.
        let environment = [
            "PATH": "/usr/bin:/bin", "HOME": folder.path.text, "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        ]
        let git = ["/usr/bin/git", "-C", folder.path.text]
        return try folder.run(git + arguments, environment: environment, input: input).check().output
    }
}
