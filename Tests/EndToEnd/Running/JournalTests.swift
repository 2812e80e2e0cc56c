import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Priorities passed to the journal along with the text.
@Suite("Log lines for the journal")
struct JournalTests {
    /// An agent that logs to `$JOURNAL_STREAM`.
    private func steward(_ configuration: String = "") async throws -> AgentFixture {
        let steward = try AgentFixture(configuration: configuration)
        try steward.rule(CommandDaemonTests.captures)
        let log = try steward.home.write("agent.log", "")
        let status = try #require(try FileStatus.of(log))
        steward.variables["JOURNAL_STREAM"] = "\(status.device):\(status.inode)"
        return steward
    }

    @Test("Each line begins with its priority, without a second timestamp")
    func priorities() async throws {
        let steward = try await steward()
        try await steward.start()
        try steward.drop("dropbox/a.md", "One.\n")
        try steward.wait()
        try steward.rule("20-bad.yaml", "- rule: Bad\n  in: nowhere\n  do: [trash]\n")
        #expect(try steward.run(["reload"]).status != 0)
        let lines = try steward.log().split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("<5>notice: watching ") })
        #expect(lines.contains { $0.hasPrefix("<6>info: index-capture: ") })
        #expect(lines.contains { $0.hasPrefix("<4>warning: ") })
        #expect(lines.contains { $0.hasPrefix("<3>error: the rules were not reloaded") })
        #expect(lines.allSatisfy { $0.hasPrefix("<") }, "\(lines)")
    }

    @Test("So do JSON lines, and the error of an agent that cannot start")
    func others() async throws {
        let steward = try await steward("log: { format: json }")
        try await steward.start()
        #expect(try steward.log().hasPrefix("<5>{\""))
        try steward.shell(["/bin/sh", "-c", "exec \"$0\" run 2>> agent.log", AgentFixture.binary])
        #expect(try steward.log().contains("\n<3>steward: another agent"))
    }

    @Test("Elsewhere lines have no prefix, whatever a parent process was given")
    func elsewhere() async throws {
        let steward = try AgentFixture()
        try steward.rule(CommandDaemonTests.captures)
        steward.variables["JOURNAL_STREAM"] = "8:1"
        try await steward.start()
        #expect(try steward.log().contains("Z notice: watching "))
    }
}
