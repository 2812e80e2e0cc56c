import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// Two users at the ends of one control socket.
@Suite(
    "Who may talk to the agent, and to whom commands talk",
    .enabled(if: TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
struct ControlPeerTests {
    /// Not below /tmp, where everybody may create folders.
    private func runtime(of user: TestUser) throws -> TemporaryFolder {
        let folder = try TemporaryFolder("steward-test", beneath: "/run")
        try user.own(folder.path)
        chmod(folder.path.text, 0o700)
        return folder
    }

    /// Runs `steward` as this user, looking for the agent in `runtime`.
    private func steward(
        _ arguments: [String], as user: TestUser, at runtime: BytePath, in folder: TemporaryFolder
    ) throws -> ProgramResult {
        try folder.run(
            user.command + [AgentFixture.binary] + arguments,
            environment: ["HOME": folder.path.text, "PATH": "/usr/bin:/bin", "STEWARD_RUNTIME": runtime.text])
    }

    @Test("Another user gets no answer, even if the socket's mode lets them in")
    func caller() async throws {
        let runtime = try runtime(of: .victim)
        let agent = try AgentFixture(as: .victim)
        agent.variables["STEWARD_RUNTIME"] = runtime.path.text
        try agent.rule(CommandDaemonTests.captures)
        try await agent.start()
        chmod(runtime.path.text, 0o711)
        chmod(runtime.path.appending("control.sock").text, 0o666)
        let home = try TemporaryFolder()
        chmod(home.path.text, 0o777)
        for command in ["status", "pause", "undo"] {
            let arguments = command == "undo" ? ["undo", "0123456789ab"] : [command]
            let refused = try steward(arguments, as: .attacker, at: runtime.path, in: home)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("and not user \(TestUser.attacker.id)"), "\(refused.errors)")
        }
        #expect(try !agent.run(["status"]).check().output.contains("paused"))
        // Root is answered: its command trusts the user to whom root gave the folder.
        let home2 = try TemporaryFolder()
        let byRoot = try home2.run(
            [AgentFixture.binary, "status"],
            environment: ["HOME": home2.path.text, "STEWARD_RUNTIME": runtime.path.text])
        #expect(byRoot.status == 0, "\(byRoot.errors)")
        try await agent.stop()
    }

    @Test("Members of the configured group get answers, and nobody else can reach the socket")
    func group() async throws {
        var owner = TestUser.victim
        owner.groups = [65_010]
        let runtime = try runtime(of: owner)
        let agent = try AgentFixture(configuration: "control: { group: 65010 }", as: owner)
        agent.variables["STEWARD_RUNTIME"] = runtime.path.text
        try agent.rule(CommandDaemonTests.captures)
        try await agent.start()
        let home = try TemporaryFolder()
        chmod(home.path.text, 0o777)
        var member = TestUser.attacker
        member.groups = [65_010]
        let answered = try steward(["pause"], as: member, at: runtime.path, in: home)
        #expect(answered.status == 0, "\(answered.errors)")
        #expect(try agent.run(["status"]).check().output.contains("paused"))
        let other = try steward(["status"], as: .attacker, at: runtime.path, in: home)
        #expect(other.status == 1 && other.errors.contains("Permission denied"), "\(other.errors)")
        try await agent.stop()
    }

    @Test("A command sends nothing to a foreign listener")
    func listener() async throws {
        let folder = try TemporaryFolder("listener", beneath: "/tmp")
        try TestUser.attacker.own(folder.path)
        chmod(folder.path.text, 0o755)
        let path = folder.path.appending("control.sock")
        let heard = folder.path.appending("heard")
        let script = """
            import os, socket, sys
            s = socket.socket(socket.AF_UNIX)
            s.bind(sys.argv[1])
            os.chmod(sys.argv[1], 0o777)
            s.listen()
            print("listening", flush=True)
            while True:
                c = s.accept()[0]
                with open(sys.argv[2], "ab") as f:
                    f.write(c.recv(65536) + b"|")
                c.close()
            """
        let listener = Process(TestUser.attacker.command + ["/usr/bin/python3", "-c", script, path.text, heard.text])
        _ = try listener.run { $0.contains("listening") ? true : nil }
        // It may have been started with signals blocked, like dispatch threads.
        defer { kill(listener.processIdentifier, SIGKILL) }
        let agent = try AgentFixture(as: .victim)
        agent.variables["STEWARD_RUNTIME"] = folder.path.text
        for arguments in [["status"], ["pause"], ["vault", "status"], ["health"]] {
            let refused = try agent.run(arguments)
            #expect(refused.status != 0)
            #expect(refused.errors.contains("user \(TestUser.attacker.id) listens at"), "\(refused.errors)")
        }
        // Each one connected, and left without sending anything.
        try await agent.until("all calls were taken") { try TemporaryFolder.text(heard) == "||||" }
        // No second agent starts beside it either.
        let second = try agent.run(["run"])
        #expect(second.status != 0 && !second.errors.isEmpty)
    }
}
