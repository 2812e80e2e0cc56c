import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Files private to the agent, on a machine whose umask would expose them to everybody.
@Suite("Databases are private to their owner")
struct PrivateFileTests {
    private static let open = ["/bin/sh", "-c", "umask 022; exec \"$@\"", "sh"]

    /// All databases below the home, with their companion files, by name.
    private func databases(_ steward: AgentFixture) throws -> [String: mode_t] {
        let found = try steward.shell(["find", steward.home.path.text, "-name", "*.sqlite*"]).check().output
        return try found.split(separator: "\n").reduce(into: [:]) { modes, path in
            let path = BytePath(String(path))
            if let status = try FileStatus.of(path) { modes[path.nameText] = status.mode }
        }
    }

    private func favour(_ steward: AgentFixture) throws {
        let comic = try steward.home.write("saga.cbz", packed([Packed(name: "1.png", bytes: picture(1))]))
        try steward.shell(Self.open + [AgentFixture.binary, "comics", "favourite", comic.text]).check()
    }

    @Test("Ledger, captures and comics, their logs, and the daily copy, whether new or found readable by all")
    func modes() async throws {
        let steward = try AgentFixture()
        try steward.rule(CommandDaemonTests.captures)
        try await steward.start(wrapper: Self.open)
        try steward.drop("dropbox/a.md", "One.\n")
        try steward.wait()
        try favour(steward)
        try await steward.until("the copy is made") { try databases(steward)["ledger.backup.sqlite"] != nil }
        try await steward.kill9()
        let names =
            ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.backup.sqlite"]
            + ["captures.sqlite", "captures.sqlite-wal", "captures.sqlite-shm", "comics.sqlite"]
        let made = try databases(steward)
        for name in names { #expect(made[name] == 0o600, "\(name)") }
        // As an older version left them.
        try steward.shell(["find", steward.home.path.text, "-name", "*.sqlite*", "-exec", "chmod", "644", "{}", "+"])
            .check()
        try await steward.start(wrapper: Self.open)
        try steward.drop("dropbox/b.md", "Two.\n")
        try steward.wait()
        try favour(steward)
        try await steward.until("the copy is made anew") { try databases(steward)["ledger.backup.sqlite"] == 0o600 }
        let found = try databases(steward)
        for name in names { #expect(found[name] == 0o600, "\(name)") }
        #expect(found.values.allSatisfy { $0 == 0o600 }, "\(found)")
        try steward.run(["status"]).check()
    }
}
