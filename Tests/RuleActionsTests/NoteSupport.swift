import Foundation
import Glibc
import OwnFiles
import Platform
import RuleActions
import TestSupport

extension ActionWorld {
    func request(
        _ content: String, step: String = "job.0", note: BytePath = "inbox.md", token: String = "cap-0930"
    ) -> NoteRequest {
        NoteRequest(
            step: step, note: home.appending("notes").appending(note), root: home.appending("notes"),
            heading: "Captures", token: token, content: content, atEndOfFile: false, starter: "")
    }

    /// Waits until this process holds a lease on the file, by /proc/locks.
    ///
    /// - Parameter word: `BREAKING` to wait until somebody waits for it to be given back.
    func untilLeased(_ path: BytePath, _ word: String = "LEASE") async throws {
        let inode = try FileStatus.of(path)?.inode ?? 0
        try await waitUntil("\(path) is leased") {
            try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
                .contains { $0.contains("LEASE") && $0.contains(word) && $0.contains(":\(inode) ") }
        }
    }
}

/// A shell that runs until its script ends, or until it is told to go on (its `read`).
final class Shell: Sendable {
    private let process = Process()
    private let input = Pipe()

    /// - Parameter arguments: `$0`, `$1` … of the script.
    init(_ script: String, _ arguments: String...) throws {
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script] + arguments
        process.standardInput = input
        try process.run()
    }

    var id: Int32 { process.processIdentifier }

    /// Ends its `read`, and waits for its end.
    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// How often `part` stands in `text`.
func count(_ part: String, in text: String) -> Int { text.components(separatedBy: part).count - 1 }
